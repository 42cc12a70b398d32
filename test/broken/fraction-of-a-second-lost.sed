# cli/number.c: fractions of a second are read and forgotten
s/ms = read_fraction(text, &at);/read_fraction(text, \&at);/
