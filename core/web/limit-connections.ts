import fp from 'fastify-plugin'

/** The share of a process's open files that connections may take; files and the database need the rest. */
const CONNECTIONS_SHARE = 0.75

/** Returns the most files that this process may have open; Infinity without a limit. */
export function readOpenFilesLimit (report: object = process.report.getReport()): number {
  const limits: unknown = Reflect.get(report, 'userLimits')
  const files: unknown = typeof limits === 'object' && limits !== null ? Reflect.get(limits, 'open_files') : null
  const soft: unknown = typeof files === 'object' && files !== null ? Reflect.get(files, 'soft') : null
  return typeof soft === 'number' ? soft : Infinity
}

/**
 * Closes new connections before the process runs out of open files. The supervisor hands each connection to a worker as
 * a file. A worker that cannot receive the file never answers, and Node then hands it no further connection.
 */
export default fp(async (app, { filesMax = readOpenFilesLimit() }: { filesMax?: number }) => {
  if (filesMax === Infinity) return
  // The types of Node lack `dropMaxConnection`. Without it Node offers the connection to the other workers without end.
  Object.assign(app.server, { maxConnections: Math.floor(filesMax * CONNECTIONS_SHARE), dropMaxConnection: true })
  let isWarned = false
  app.server.on('drop', () => {
    if (!isWarned) app.log.warn(`new connections are closed, because ${app.server.maxConnections} are open; raise the limit of open files, which is ${filesMax}`)
    isWarned = true
  })
}, { name: 'limit-connections', fastify: '5.x' })
