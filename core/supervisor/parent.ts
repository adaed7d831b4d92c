import { execFileSync } from 'node:child_process'
import { isAlive } from '../process/process-alive.ts'

/** The interval of the check for npm, because no event reports its end. */
const CHECK_MS = 500

interface Ancestor { parent: number, command: string }

function readProcess (pid: number): Ancestor | null {
  try {
    const args = ['-o', 'ppid=,args=', '-p', String(pid)]
    const line = execFileSync('ps', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    const [, parent, command] = /^\s*(\d+)\s(.*)$/m.exec(line) ?? []
    return command === undefined ? null : { parent: Number(parent), command }
  } catch {
    // Windows and some containers have no ps.
    return null
  }
}

/**
 * Returns npm's process id among three parents, or null: npm runs a shell, which runs svc.js, which may run this
 * process.
 */
function findNpm (pid: number, generations = 3): number | null {
  const found = generations === 0 ? null : readProcess(pid)
  if (found === null) return null
  return /^(?:\S*\/)?(?:node\s+\S*\/)?(?:npm|npx)\b/.test(found.command) ? pid : findNpm(found.parent, generations - 1)
}

/**
 * Calls back when npm is gone, if npm started this process. npm passes a signal on only to the shell between the two.
 * SIGTERM and SIGHUP end the shell and npm. After SIGINT the shell waits for this process, so nothing ends and nothing
 * is noticed here. Other parents, such as a shell that ran `svc start &`, may end before the server.
 *
 * @returns a function that stops the watch
 */
export function watchNpm (onGone: () => void): () => void {
  if (process.env.npm_lifecycle_event === undefined) return () => {}
  const parent = process.ppid
  const npm = findNpm(parent)
  const timer = setInterval(() => {
    if (process.ppid === parent && (npm === null || isAlive(npm))) return
    clearInterval(timer)
    onGone()
  }, CHECK_MS).unref()
  return () => { clearInterval(timer) }
}
