import { cp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { SERVER_DIR } from '../../core/server-dir.ts'

/** What a server needs to run, apart from its packages. */
const SOURCES = ['core', 'plugins', 'sdk', 'providers', 'channels', 'exporters', 'package.json']
/** The last line of the list of migrations. */
const LIST_END = /\n\]\n$/

/** A migration of a made-up later release: its name, and its statement. */
export interface LaterMigration { name: string, sql: string }

/** Creates the folder of a made-up later release, which is this one with further migrations. @returns the folder */
export async function createRelease (
  t: Pick<Test, 'teardown'>, folder: string, later: readonly LaterMigration[]
): Promise<string> {
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  for (const name of SOURCES) {
    await cp(join(SERVER_DIR, name), join(folder, name), { recursive: true, preserveTimestamps: true })
  }
  await symlink(join(SERVER_DIR, 'node_modules'), join(folder, 'node_modules'))
  const file = join(folder, 'plugins', 'migrations.ts')
  const text = await readFile(file, 'utf8')
  if (!LIST_END.test(text)) throw new Error(`${file} does not end with the list of migrations`)
  const entries = later.map(({ name, sql }) =>
    `,\n  { name: '${name}', class: class extends Migration { override up () { this.addSql(${JSON.stringify(sql)}) } } }`)
  await writeFile(file, `import { Migration } from '@mikro-orm/migrations'\n${text.replace(LIST_END, () => `${entries.join('')}\n]\n`)}`)
  return folder
}
