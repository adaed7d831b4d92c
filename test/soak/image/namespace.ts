import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'

/** The output of a program, and its end. */
export interface Said { code: number | null, signal: NodeJS.Signals | null, output: string }

export interface Running { child: ChildProcess, output (): string, ended: Promise<Said> }

/** Starts a program and collects its output. */
export function start (program: string, args: readonly string[], options: SpawnOptions = {}): Running {
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  const chunks: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (text: string) => { chunks.push(text) })
  const output = () => chunks.join('')
  const ended = once(child, 'close').then(([code, signal]: unknown[]) =>
    ({ code: code as number | null, signal: signal as NodeJS.Signals | null, output: output() }))
  return { child, output, ended }
}

/** Runs a program to its end. @throws Error with its output if it fails */
export async function run (program: string, args: readonly string[], options?: SpawnOptions): Promise<string> {
  const { code, output } = await start(program, args, options).ended
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}:\n${output}`)
  return output
}

/** Runs a shell script as process 1 of new mount and process namespaces, which end with it. */
export const startApart = (script: string, env: NodeJS.ProcessEnv): Running =>
  start('unshare', ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-euc', script], { env })

/** @throws Error with its output if it fails */
export async function runApart (script: string, env: NodeJS.ProcessEnv): Promise<string> {
  const { code, output } = await startApart(script, env).ended
  if (code !== 0) throw new Error(`ended with ${code}:\n${script}\n${output}`)
  return output
}

/** Returns process 1 of a `startApart` call, by its id outside the namespace; null before it exists. */
export function firstProcess ({ child: { pid } }: Running): number | null {
  const [first] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  return first === undefined || first === '' ? null : Number(first)
}

/** Quotes a text for a shell. */
export const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
