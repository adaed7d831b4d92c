/** How far a backup or restore is: what was done of the phase so far. */
export interface Progress { phase: 'tables' | 'files' | 'check', rows: number, files: number, bytes: number }

export const mebibytes = (bytes: number) => `${(bytes / 1024 ** 2).toFixed(1)} MiB`
