import { type ChildProcess, fork } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { WORKER_FLAGS } from '../../core/process/node-flags.ts'
import { COLLECT_SOONER } from '../../core/supervisor/start-memory.ts'

/**
 * Reads a memory counter of a process on Linux in MiB; null elsewhere.
 * https://man7.org/linux/man-pages/man5/proc_pid_status.5.html
 */
function readStatus (pid: number, field: 'VmHWM' | 'VmRSS'): number | null {
  if (process.platform !== 'linux') return null
  const found = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return found === null ? null : Number(found[1]) / 1024
}

/** Lists a process and its running descendants; https://man7.org/linux/man-pages/man5/proc_tid_children.5.html */
export function listTree (pid: number): number[] {
  if (process.platform !== 'linux') return [pid]
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter((text) => text !== '')
  return [pid, ...children.flatMap((child) => listTree(Number(child)))]
}

function sumOf (values: readonly (number | null)[]): number | null {
  return values.reduce((sum, value) => sum === null || value === null ? null : sum + value, 0)
}

/** Returns the peak memory of a process with all its threads. */
export const readPeak = (pid: number) => readStatus(pid, 'VmHWM')
/** Returns the sum of the peaks of its descendants, which may have been at different times. */
export const readPeakOfOthers = (pid: number) => sumOf(listTree(pid).slice(1).map(readPeak))
export const readMemory = (pid: number) => readStatus(pid, 'VmRSS')

/**
 * Returns the private memory of a process plus its share of shared memory, in MiB: proc_pid_smaps(5) of Linux. It is 0
 * for a process that has ended, such as one for a database connection.
 */
export function readShare (pid: number): number {
  try {
    const [, kilobytes] = /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')) ?? []
    return Number(kilobytes) / 1024
  } catch (err) {
    if (['ENOENT', 'ESRCH'].includes(String((err as NodeJS.ErrnoException).code))) return 0
    throw err
  }
}

const TICKS_PER_SECOND = 100

/** Returns the processor seconds of a process, its threads and descendants; null where that is unknown. */
export const readProcessorSeconds = (pid: number) => sumOf(listTree(pid).map(readOwnSeconds))

function readOwnSeconds (pid: number): number | null {
  if (process.platform !== 'linux') return null
  // The name in parentheses may contain any text. After it, utime and stime are the 12th and 13th field.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

/** Resets the peak memory. */
export function resetPeak (pid: number): void {
  if (process.platform === 'linux') writeFileSync(`/proc/${pid}/clear_refs`, '5')
}

/** Runs a program of this folder in a process of its own and returns its report, unless `signal` ends it first. */
export async function runProgram<Answer> (script: string, input: object, signal?: AbortSignal): Promise<Answer> {
  const child: ChildProcess = fork(fileURLToPath(new URL(script, import.meta.url)), [], {
    // Use the worker's memory settings, because others would falsify the result.
    execArgv: [...WORKER_FLAGS, COLLECT_SOONER], env: { ...process.env, MALLOC_ARENA_MAX: '2' }, ...(signal === undefined ? {} : { signal })
  })
  child.send(input)
  return await new Promise((resolve, reject) => {
    child.once('message', (answer) => { resolve(answer as Answer) })
    child.once('error', reject)
    child.once('exit', (code) => { reject(new Error(`${script} ended with ${code} and reported nothing`)) })
  })
}

export interface Timing {
  seconds: number
  /** Processor seconds of all threads and processes together in that time: almost the same on a busy machine. */
  processorSeconds: number
  /** Peak memory of this process and its descendants in MiB; null where that is unknown. */
  peakMib: number | null
}

/** Measures work that this process does, or delegates to others. */
export async function time (work: () => Promise<unknown>): Promise<Timing> {
  const used = readProcessorSeconds(process.pid) ?? 0
  const started = performance.now()
  await work()
  const seconds = (performance.now() - started) / 1_000
  const processorSeconds = (readProcessorSeconds(process.pid) ?? 0) - used
  return { seconds, processorSeconds, peakMib: sumOf(listTree(process.pid).map(readPeak)) }
}

/** Runs the program's work and ends the process: the other side of {@link runProgram}. */
export function answer<Input, Answer> (work: (input: Input) => Promise<Answer>): void {
  // The parent no longer exists, so nobody receives the result.
  process.once('disconnect', () => { process.exit(1) })
  process.once('message', (input) => {
    work(input as Input).then((result) => {
      process.send?.(result, () => { process.exit(0) })
    }, (err: unknown) => {
      console.error(err)
      process.exit(1)
    })
  })
}
