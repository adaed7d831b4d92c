import { type ChildProcess, fork } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { WORKER_FLAGS } from '../../core/node-flags.ts'
import { COLLECT_SOONER } from '../../core/supervisor/start-memory.ts'

/** What Linux counts of a process, in MiB; null elsewhere. https://man7.org/linux/man-pages/man5/proc_pid_status.5.html */
function readStatus (pid: number, field: 'VmHWM' | 'VmRSS'): number | null {
  if (process.platform !== 'linux') return null
  const found = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return found === null ? null : Number(found[1]) / 1024
}

/** A process and those it started, as long as they run; https://man7.org/linux/man-pages/man5/proc_tid_children.5.html */
export function listTree (pid: number): number[] {
  if (process.platform !== 'linux') return [pid]
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter((text) => text !== '')
  return [pid, ...children.flatMap((child) => listTree(Number(child)))]
}

function sumOf (values: readonly (number | null)[]): number | null {
  return values.reduce((sum, value) => sum === null || value === null ? null : sum + value, 0)
}

/** The most memory a process ever had, its threads included. */
export const readPeak = (pid: number) => readStatus(pid, 'VmHWM')
/** The same of those it started, which may not have been at the same time. */
export const readPeakOfOthers = (pid: number) => sumOf(listTree(pid).slice(1).map(readPeak))
export const readMemory = (pid: number) => readStatus(pid, 'VmRSS')

/** The memory a process has for itself, and its part of what it shares, in MiB: proc_pid_smaps(5) of Linux. */
export function readShare (pid: number): number {
  const [, kilobytes] = /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')) ?? []
  return Number(kilobytes) / 1024
}

const TICKS_PER_SECOND = 100

/** Seconds the processors worked for a process, its threads and those it started; null where it cannot be told. */
export const readProcessorSeconds = (pid: number) => sumOf(listTree(pid).map(readOwnSeconds))

function readOwnSeconds (pid: number): number | null {
  if (process.platform !== 'linux') return null
  // The name in brackets may hold anything; after it, utime and stime are the 12th and 13th field.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

/** The peak counts from now on. */
export function resetPeak (pid: number): void {
  if (process.platform === 'linux') writeFileSync(`/proc/${pid}/clear_refs`, '5')
}

/** Runs a program of this folder in a process of its own and gives what it reports, unless `signal` ends it before. */
export async function runProgram<Answer> (script: string, input: object, signal?: AbortSignal): Promise<Answer> {
  const child: ChildProcess = fork(fileURLToPath(new URL(script, import.meta.url)), [], {
    // Other memory settings would measure another program.
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
  /** What the processors worked in that time, all threads and processes together: almost the same on a busy machine. */
  processorSeconds: number
  /** The most memory this process and those it started ever had, in MiB; null where it cannot be told. */
  peakMib: number | null
}

/** Times something that this process does, or has others do. */
export async function time (work: () => Promise<unknown>): Promise<Timing> {
  const used = readProcessorSeconds(process.pid) ?? 0
  const started = performance.now()
  await work()
  const seconds = (performance.now() - started) / 1_000
  const processorSeconds = (readProcessorSeconds(process.pid) ?? 0) - used
  return { seconds, processorSeconds, peakMib: sumOf(listTree(process.pid).map(readPeak)) }
}

/** The other side of {@link runProgram}: does the work and ends the process. */
export function answer<Input, Answer> (work: (input: Input) => Promise<Answer>): void {
  // Nobody is there any more to hear of it.
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
