// Limits far above the largest DATs: MAME lists 50,000 machines in 300 MiB, and its largest one has some 1,000 files.

/** The most bytes of one DAT. */
export const DAT_BYTES_MAX = 1024 ** 3
/** The most games of one DAT. */
export const GAMES_MAX = 1_000_000
/** The most files of all games of one DAT. */
export const FILES_MAX = 5_000_000
/** The most files of one game, which are in memory at once. */
export const GAME_FILES_MAX = 100_000
/** The most bytes of a name or another value in UTF-8. An index of the database takes 2,704 bytes at most. */
export const VALUE_MAX = 2_000
/** The most different keys in one block of the text format, which are in memory at once. */
export const BLOCK_VALUES_MAX = 1_000
/** The most characters between two tags or line ends, which are in memory at once. */
export const PIECE_MAX = 1024 ** 2
/** The deepest nesting of elements or blocks. */
export const DEPTH_MAX = 32
