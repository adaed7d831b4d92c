/** What the server loads when it is first needed, for those who compile it ahead. */
export const loadLater = () => Promise.all([
  import('../../plugins/scans/run/scan.ts'), import('../http/agent.ts'), import('pg-boss'), import('jose')
])
