/** The interval at which the process of a plugin, and the server from outside, compare its memory with the limit. */
export const MEMORY_WATCH_MS = 250
/** The exit code with which the process ends itself above the limit. */
export const OUT_OF_MEMORY = 90
