import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Test as TapTest } from 'tap'
import { SERVER_DIR } from '../../core/server-dir.ts'
import { type ServerState, readServerState } from '../../core/supervisor/server-state.ts'
import { until } from '../until.ts'

/** A data directory without a server. The test run prepares the stripped code of a first start there. */
export const USED_DATA_DIR = join(SERVER_DIR, 'node_modules', '.cache', 'svc-used')
const SHIFT_CLOCK = new URL('shift-clock.js', import.meta.url).href

export interface Ended { code: number | null, signal: NodeJS.Signals | null, output: string }

export interface Command {
  child: ChildProcess
  pid: number
  /** Returns the output of both streams so far. */
  output (): string
  ended: Promise<Ended>
}

/** Returns the settings of a separate server: few workers, any free port, this machine only. */
export const settings = (dataDir: string, more: Record<string, string> = {}): Record<string, string> => ({
  SVC_DATA_DIR: dataDir, SVC_HOST: '127.0.0.1', SVC_PORT: '0', WEB_SERVER_CONCURRENCY: '2', ...more
})

/**
 * Creates a data directory with nothing but the server's stripped code, so that a process of the server starts in half
 * the time. The database, the library folder and all settings are missing, as before a first start. @returns the folder
 */
export function createUsedDataDir (dataDir: string): string {
  mkdirSync(join(dataDir, 'run'), { recursive: true, mode: 0o700 })
  symlinkSync(join(USED_DATA_DIR, 'run', 'stripped'), join(dataDir, 'run', 'stripped'))
  return dataDir
}

/** Runs `svc` as a person would, without the settings of the test run. @param home the folder of another release */
export const runSvc = (
  t: Pick<TapTest, 'teardown'>, args: string[], env: Record<string, string>, home = SERVER_DIR
): Command => run(t, process.execPath, [join(home, 'core', 'svc.js'), ...args], env)

/** Runs `svc` with a file as its standard output. @param file the file descriptor */
export const runSvcInto = (
  t: Pick<TapTest, 'teardown'>, file: number, args: string[], env: Record<string, string>
): Command => run(t, process.execPath, [join(SERVER_DIR, 'core', 'svc.js'), ...args], env, file)

/**
 * Runs `svc` on a machine whose clock is ahead. The program `env` sets NODE_OPTIONS, because the test runner replaces
 * the variable in each process that a test starts.
 */
export const runSvcAhead = (
  t: Pick<TapTest, 'teardown'>, aheadMs: number, args: string[], env: Record<string, string>
): Command => run(t, 'env', [
  `NODE_OPTIONS=--import=${SHIFT_CLOCK}`, `TEST_CLOCK_SHIFT_MS=${aheadMs}`, process.execPath, join(SERVER_DIR, 'core', 'svc.js'), ...args
], env)

/** Runs npm in the folder of the server. */
export const runNpm = (t: Pick<TapTest, 'teardown'>, args: string[], env: Record<string, string>): Command =>
  run(t, 'npm', args, env)

function run (
  t: Pick<TapTest, 'teardown'>, program: string, args: string[], env: Record<string, string>, stdout: 'pipe' | number = 'pipe'
): Command {
  const inherited = Object.fromEntries(Object.entries(process.env)
    .filter(([name]) => !name.startsWith('SVC_') && !name.startsWith('TAP') && !name.startsWith('npm_') && name !== 'NODE_OPTIONS'))
  const child = spawn(program, args, { cwd: SERVER_DIR, env: { ...inherited, ...env }, stdio: ['ignore', stdout, 'pipe'] })
  const { pid } = child
  if (pid === undefined) throw new Error(`${program} could not be run`)
  const chunks: string[] = []
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => { chunks.push(text) })
  }
  const output = () => chunks.join('')
  const ended = once(child, 'close').then(([code, signal]: unknown[]) =>
    ({ code: code as number | null, signal: signal as NodeJS.Signals | null, output: output() }))
  t.teardown(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
    await ended
  })
  return { child, pid, output, ended }
}

export interface Listening { state: ServerState, url: string }

/** A first start creates a database, and a busy machine may run ten at once. */
export const START_MS = 180_000

/** Waits until the server of `command` answers. */
export async function waitUntilListening (command: Command, dataDir: string, ms = START_MS): Promise<Listening> {
  const state = await until(async () => {
    if (command.child.exitCode !== null) throw new Error(`svc ended with ${command.child.exitCode}:\n${command.output()}`)
    const found = readServerState(dataDir)
    return found?.pid === command.pid && found.port !== null && found
  }, 'a listening server', { ...command, ms })
  const url = `http://127.0.0.1:${state.port}`
  const answers = async () => (await tryFetch(`${url}/api/heartbeat`))?.status === 200
  await until(answers, 'the first answer', { ...command, ms })
  return { state, url }
}

/** Returns the response, or null while nothing listens. */
export async function tryFetch (url: string, init?: RequestInit): Promise<Response | null> {
  try {
    return await fetch(url, init)
  } catch {
    // Refused or cut off, as these tests intend.
    return null
  }
}

async function readProcesses () {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=,args='])
  return stdout.split('\n').flatMap((line) => {
    const [, pid, ppid, args] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? []
    return args === undefined ? [] : [{ pid: Number(pid), parent: Number(ppid), args }]
  })
}

/** Returns the process ids that a supervisor runs for one role. */
export async function listChildren (parent: number, role: 'web' | 'worker'): Promise<number[]> {
  const processes = await readProcesses()
  return processes.filter((one) => one.parent === parent && one.args.endsWith(`composition/child.ts ${role}`)).map(({ pid }) => pid)
}

/** Returns the ids of all child processes, the database's server among them. */
export async function listAllChildren (parent: number): Promise<number[]> {
  return (await readProcesses()).filter((one) => one.parent === parent).map(({ pid }) => pid)
}

/** True if the process still exists. */
export function isAlive (pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
