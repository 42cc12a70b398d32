/* What the port itself knows, without any store behind it. */
#include "session/store.h"

const char *zkl_code_text(enum zkl_code code)
{
    switch (code) {
    case ZKL_CODE_OK:
        return "ok";
    case ZKL_CODE_UNKNOWN:
        return "no answer";
    case ZKL_CODE_NO_NODE:
        return "no node";
    case ZKL_CODE_NODE_EXISTS:
        return "the node exists";
    case ZKL_CODE_NO_AUTH:
        return "access denied";
    case ZKL_CODE_NO_CHILDREN:
        return "an ephemeral node can have no children";
    case ZKL_CODE_BAD_VERSION:
        return "another version";
    case ZKL_CODE_REFUSED:
        return "refused";
    }
    return "unknown code";
}
