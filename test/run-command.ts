import type { Test } from 'tap'
import { explainError } from '../core/cli/explain-error.ts'
import { createProgram } from '../core/cli/program.ts'
import { setSettings } from '../core/config/environment.ts'
import { VERSION } from '../core/version.ts'
import { features } from '../plugins/index.ts'

/** Replaces the settings of this process by those of a command. @returns a function that restores them */
function replaceSettings (env: Readonly<Record<string, string>>): () => void {
  const former = { ...process.env }
  for (const name of Object.keys(former)) if (name.startsWith('SVC_')) Reflect.deleteProperty(process.env, name)
  Object.assign(process.env, env)
  return () => {
    for (const name of Object.keys(process.env)) if (!(name in former)) Reflect.deleteProperty(process.env, name)
    Object.assign(process.env, former)
    setSettings(process.env)
  }
}

/**
 * Runs `svc` in this process, which costs a fraction of `runSvc`, because the code is loaded already. Commands that run
 * until a signal, and `doctor`, which ends its process, need `runSvc`.
 *
 * @returns the exit code, and the output of both streams
 */
export async function runCommand (
  t: Pick<Test, 'capture'>, args: readonly string[], env: Readonly<Record<string, string>>
): Promise<{ code: number, output: string }> {
  const restore = replaceSettings(env)
  const chunks: string[] = []
  const hold = (chunk: unknown) => {
    chunks.push(String(chunk))
    return true
  }
  const captured = [t.capture(process.stdout, 'write', hold), t.capture(process.stderr, 'write', hold)]
  const { exitCode: former } = process
  process.exitCode = undefined
  try {
    await (await createProgram(VERSION, features)).parseAsync(args, { from: 'user' })
    return { code: Number(process.exitCode ?? 0), output: chunks.join('') }
  } catch (err) {
    const code = explainError(err)
    return { code, output: chunks.join('') }
  } finally {
    for (const stream of captured) stream.restore()
    process.exitCode = former
    restore()
  }
}
