import { readFileSync } from 'node:fs'
import fp from 'fastify-plugin'

/** The share of a process's open files that connections may take; files and the database need the rest. */
const CONNECTIONS_SHARE = 0.75

/** The process's own limits on Linux. See proc_pid_limits(5) */
const LIMITS_FILE = '/proc/self/limits'

/** Returns the most files that a process may have open, by the text of its limits; Infinity if there is no limit. */
export const parseOpenFilesLimit = (limits: string): number =>
  Number(/^Max open files +(\d+) /m.exec(limits)?.[1] ?? Infinity)

function readOpenFilesLimit (): number {
  try {
    return parseOpenFilesLimit(readFileSync(LIMITS_FILE, 'utf8'))
  } catch {
    return Infinity
  }
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
