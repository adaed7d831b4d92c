import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { journalOf } from '../../plugins/backup/restore/journal.ts'
import { type Command, runSvc, settings } from '../e2e/server.ts'
import { until } from '../until.ts'
import { type SoakServer, startServer } from './server.ts'

const ROUNDS = Number(process.env.SOAK_ROUNDS ?? 10)
const SAVES = 400
const folder = await mkdtemp(join(tmpdir(), 'svc-soak-'))
t.teardown(() => rm(folder, { recursive: true, force: true }))
const [dataDir, libraryDir] = [join(folder, 'data'), join(folder, 'library')]
const archives = { old: join(folder, 'old.tar.gz'), new: join(folder, 'new.tar.gz') }
type Which = keyof typeof archives

const env = settings(dataDir, { SVC_BACKUP_PASSPHRASE: 'for soak tests only', SVC_LIBRARY_DIR: libraryDir, SVC_LOG_LEVEL: 'warn' })
const start = (t: Pick<Test, 'teardown'>) => startServer(t, dataDir, libraryDir)
const savesDir = join(dataDir, 'assets', 'users', 'soak', 'saves')

async function svc (t: Pick<Test, 'teardown'>, ...args: string[]): Promise<string> {
  const { code, output } = await runSvc(t, args, env).ended
  if (code !== 0) throw new Error(`svc ${args.join(' ')} ended with ${code}:\n${output}`)
  return output
}

/** Marks database and files with a state. */
async function mark (server: SoakServer, which: Which): Promise<void> {
  await until(() => server.query("delete from permission_groups where name like 'soak %'"), 'no mark', server.command)
  await until(() => server.query('insert into permission_groups (name) values ($1)', [`soak ${which}`]), 'a mark', server.command)
  await rm(savesDir, { recursive: true, force: true })
  await mkdir(savesDir, { recursive: true })
  for (let save = 0; save < SAVES; save++) await writeFile(join(savesDir, `${which}-${save}.srm`), `${which} ${save} `.repeat(1_000))
}

/** Returns the states that database and files are in. */
async function look (server: SoakServer): Promise<{ database: string[], files: string[] }> {
  const rows = await until(() => server.query<{ name: string }>("select name from permission_groups where name like 'soak %'"), 'the mark', server.command)
  const names = await readdir(savesDir)
  if (names.length !== SAVES) throw new Error(`${names.length} files`)
  return { database: rows.map(({ name }) => name.slice('soak '.length)), files: [...new Set(names.map((name) => name.split('-')[0] ?? ''))] }
}

let restoreMs = 0

/** Waits until the restore is decided, plus some turns of the event loop, because the swap takes milliseconds. */
async function waitForSwap ({ child }: Command, turns: number): Promise<void> {
  while (!existsSync(journalOf(dataDir)) && child.exitCode === null) await nextTurn()
  for (let turn = 0; turn < turns; turn++) await nextTurn()
}

await t.test('two states are backed up while the server runs', async (t) => {
  const server = await start(t)
  for (const which of ['old', 'new'] as const) {
    await mark(server, which)
    t.match(await svc(t, 'backup', archives[which]), /tables were restored into a temporary database/)
  }
  await server.stop()
  const since = performance.now()
  t.match(await svc(t, 'restore', archives.old), /is as it was on/)
  restoreMs = performance.now() - since
  t.comment(`a restore takes ${Math.round(restoreMs)} ms`)
})

await t.test('kill -9 of a restore leaves all of the old state or all of the new one', async (t) => {
  const seen = new Set<string>()
  let now: Which = 'old'
  for (let round = 0; round < ROUNDS; round++) {
    const wanted: Which = now === 'old' ? 'new' : 'old'
    const command = runSvc(t, ['restore', archives[wanted]], env)
    const moment = (round + 1) / ROUNDS
    // Every second kill hits the swap of the old state with the new one.
    if (round % 2 === 0) await Promise.race([sleep(restoreMs * moment), command.ended])
    else await waitForSwap(command, round)
    command.child.kill('SIGKILL')
    await command.ended
    const server = await start(t)
    const found = await look(server)
    const what = `round ${round}, killed ${round % 2 === 0 ? `at ${Math.round(moment * 100)} %` : 'while it took its place'}`
    t.same(found.database, found.files, what)
    t.ok(found.database.length === 1 && ['old', 'new'].includes(found.database[0] ?? ''), what)
    now = found.database[0] === 'new' ? 'new' : 'old'
    seen.add(now === wanted ? 'new' : 'old')
    t.equal((await readFile(join(dataDir, 'identity'), 'utf8')).length, 37, what)
    await server.stop()
    for (const name of await readdir(dataDir)) {
      if (name.startsWith('before-restore-')) await rm(join(dataDir, name), { recursive: true, force: true })
    }
  }
  t.comment(`left: ${[...seen].join(', ')}`)
})
