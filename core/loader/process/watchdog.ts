import { type ChildProcess, spawn } from 'node:child_process'

/**
 * Kills the process `$1` when the standard input ends. Ignores the signals that a terminal or service manager sends to
 * every process, because the child may end by itself after them.
 */
const SCRIPT = "trap '' INT TERM HUP; read -r _; kill -9 \"$1\""

/**
 * Starts a shell that kills a child process as soon as this process ends, also by SIGKILL. The end of this process
 * closes the pipe from which the shell reads. A plugin that never pauses does not notice that its channel closed.
 *
 * @returns the shell, which ends with the child; null on Windows, which itself ends a child with its parent
 */
export function startWatchdog (child: ChildProcess): ChildProcess | null {
  if (process.platform === 'win32' || child.pid === undefined) return null
  const watchdog = spawn('/bin/sh', ['-c', SCRIPT, 'sh', String(child.pid)], {
    env: {}, cwd: '/', stdio: ['pipe', 'ignore', 'ignore']
  })
  // Without a shell, a plugin that never pauses outlives a killed server.
  watchdog.on('error', () => {})
  watchdog.unref()
  child.once('exit', () => { watchdog.kill('SIGKILL') })
  return watchdog
}
