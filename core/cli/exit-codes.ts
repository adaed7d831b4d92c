/** Exit codes of `svc`; 0 is success. */
export const FAILURE = 1
export const USAGE = 2
/** The command may work later (EX_TEMPFAIL of sysexits.h). */
export const TEMPORARY = 75
/** Ctrl-C ended the command: 128 + SIGINT. */
export const INTERRUPTED = 130
