/* header.cpp - see header.c. */
#include "header.c"
