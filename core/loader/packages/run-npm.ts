import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { StartError } from '../../errors.ts'

/**
 * npm runs no scripts of other packages. It copies a folder instead of linking it, so that the copy finds this server's
 * SDK. The operator may name a folder, a tarball or a repository. Dependencies may not, because npm would copy any
 * folder of this machine to a place that the plugin may read.
 */
export const NPM_FLAGS = [
  '--legacy-peer-deps', '--ignore-scripts', '--no-audit', '--no-fund', '--install-links', '--loglevel=error',
  '--allow-directory=root', '--allow-file=root', '--allow-git=root', '--allow-remote=root'
]

/**
 * Returns npm's program and its first arguments. On Windows this is its script, because Node starts no .cmd file
 * without a shell.
 */
function findNpm (): [string, ...string[]] {
  if (process.platform !== 'win32') return ['npm']
  const script = (process.env.PATH ?? '').split(delimiter)
    .map((folder) => join(folder, 'node_modules', 'npm', 'bin', 'npm-cli.js')).find((file) => existsSync(file))
  if (script === undefined) throw new StartError('npm was not found on PATH. Install Node.js with npm from https://nodejs.org.')
  return [process.execPath, script]
}

/** The end of npm's messages that an error of the server quotes. */
const QUOTED_MAX = 500

interface NpmOptions {
  signal?: AbortSignal
  /** True in a server, whose log has lines of JSON: the error then quotes npm's messages. */
  quotes?: boolean
}

/** Runs npm. @throws StartError if npm is missing or fails. npm printed the reason, or the error quotes it */
export async function runNpm (
  folder: string, args: string[], { signal, quotes = false }: NpmOptions = {}
): Promise<void> {
  const [program, ...first] = findNpm()
  let messages = ''
  const errors = quotes ? 'pipe' : 'inherit'
  const code = await new Promise<number>((resolve, reject) => {
    const child = spawn(program, [...first, ...args], { cwd: folder, stdio: ['ignore', 'ignore', errors], signal })
    child.stderr?.setEncoding('utf8').on('data', (text: string) => { messages = `${messages}${text}`.slice(-QUOTED_MAX) })
    child.once('error', (err) => {
      // A signal only asks npm to end. Until it has ended, it writes to the folder.
      if (err.name === 'AbortError') return
      reject(new StartError(`npm cannot be run: ${err.message}. Install Node.js with npm.`, { cause: err }))
    })
    child.once('close', (exitCode) => { resolve(exitCode ?? 1) })
  })
  if (code !== 0 && signal?.aborted === true) {
    throw new StartError('npm took too long and was ended. Check if this machine reaches the registry of npm.', { cause: signal.reason })
  }
  if (code === 0) return
  const reason = quotes ? `: ${messages.replaceAll(/\s+/g, ' ').trim()}` : '; its messages above say why'
  throw new StartError(`npm ended with code ${code}${reason}. Nothing was changed.`)
}
