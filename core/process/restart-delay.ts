const RESTART_MIN_MS = 200
const RESTART_MAX_MS = 30_000

/** Returns the restart delay, which doubles from 0.2 to 30 seconds with each death in a row. */
export const restartDelay = (exits: number) => Math.min(RESTART_MAX_MS, RESTART_MIN_MS * 2 ** Math.min(exits, 20))
