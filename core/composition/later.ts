/** What the server loads when it is first needed, for those who compile it ahead. */
export const loadLater = () => Promise.all([
  import('../../plugins/scans/run/scan.ts'), import('../../plugins/library/lstat-thread.ts'),
  // What the process that hashes has, and its threads: their entries would begin to work.
  import('../../plugins/scans/hashing/threads/pool.ts'), import('../../plugins/scans/hashing/hash-file.ts'),
  import('../../plugins/scans/hashing/retroachievements/hash.ts'), import('../http/agent.ts'), import('pg-boss'), import('jose')
])
