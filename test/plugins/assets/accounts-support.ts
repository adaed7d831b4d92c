import type { Test } from 'tap'
import type { TestApp } from '../../support.ts'

/** Returns the output of a command that runs beside the server. */
export async function print (t: Test, { databaseUrl, config }: TestApp, command: () => Promise<void>): Promise<string> {
  const env = { SVC_DATABASE_URL: databaseUrl, SVC_DATA_DIR: config.data_dir }
  Object.assign(process.env, env)
  const output = t.capture(process.stdout, 'write', () => true)
  try {
    await command()
    return output().map(({ args }) => String(args[0])).join('')
  } finally {
    output.restore()
    for (const name of Object.keys(env)) Reflect.deleteProperty(process.env, name)
  }
}
