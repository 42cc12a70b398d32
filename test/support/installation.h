/* Where ZooKeeper's server and Java are: ZOOKEEPER_HOME and JAVA_HOME, or Debian's packages. */
#ifndef ZKLOCK_TEST_INSTALLATION_H
#define ZKLOCK_TEST_INSTALLATION_H

/* Why no server can be run here, or NULL. */
const char *installation_missing(void);
/* NULL when there is none; the caller frees them. A bare name of Java is to be looked up on PATH. */
char *installation_class_path(void);
char *installation_java(void);

#endif
