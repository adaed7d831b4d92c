/** Progress of a backup or restore: the work done in the current phase. */
export interface Progress { phase: 'tables' | 'files' | 'check', rows: number, files: number, bytes: number }

export const mebibytes = (bytes: number) => `${(bytes / 1024 ** 2).toFixed(1)} MiB`
