import { join } from 'node:path'
import t from 'tap'
import { createUsedDataDir, runSvc } from '../../e2e/server.ts'
import { runCommand } from '../../run-command.ts'
import { makeZip } from '../hashing/fixtures.ts'
import { content, file, startDats, toDat, toGame } from './dats-support.ts'

const { test, sql, libraryDir, dataDir, load, loadDat, add } = await startDats(t)

/** Returns a zip that is nothing but a directory of empty files. */
function makeDirectory (entries: number): Buffer {
  const start = Buffer.concat([Buffer.from('PK\x03\x04'), Buffer.alloc(26)])
  const entry = Buffer.concat([Buffer.from('PK\x01\x02'), Buffer.alloc(42), Buffer.from('x')])
  entry.writeUInt16LE(1, 28)
  const end = Buffer.concat([Buffer.from('PK\x05\x06'), Buffer.alloc(18)])
  end.writeUInt16LE(entries, 8)
  end.writeUInt16LE(entries, 10)
  end.writeUInt32LE(entries * entry.length, 12)
  end.writeUInt32LE(start.length, 16)
  return Buffer.concat([start, ...Array.from({ length: entries }, () => entry), end])
}

t.test('an archive bomb is refused, and the server goes on', async (t) => {
  const zeros = Buffer.alloc(80 * 1024 ** 2)
  zeros.write('<datafile><game name="x">')
  zeros.fill(' \n', 100)
  const inner = await makeZip([{ name: 'x.dat', bytes: Buffer.from(toDat('Nested', [])) }])
  const bombs: readonly (readonly [name: string, bytes: Buffer, problem: RegExp])[] = [
    ['large.zip', await makeZip([{ name: 'x.dat', bytes: zeros }]), /unpacks to more than 200 times its size/],
    ['many.zip', makeDirectory(10_001), /more than 10000 entries/],
    ['nested.zip', await makeZip([{ name: 'inner.zip', bytes: inner }]), /has no \.dat or \.xml file/]
  ]
  for (const [name, bytes, problem] of bombs) {
    t.match(await load({ [name]: bytes }), { status: 'failed', meta: { loaded: [], problems: [{ file: name, problem }] } }, name)
  }
  t.ok(await loadDat('After the bombs', [toGame('A', [file('A.bin')])]))
})

t.test('svc dat loads, lists, renames and deletes', async (t) => {
  await add('wonderswan', { 'wrong.ws': content('swan') })
  const folder = t.testdir({
    'swan.dat': toDat('Bandai - WonderSwan', [toGame('Swan', [file('Swan.ws', 'swan')]), toGame('Gone', [file('Gone.ws')])]),
    'broken.dat': '<datafile>\n<game>',
    'notes.txt': 'hello'
  })
  const env = { SVC_DATA_DIR: dataDir, SVC_LIBRARY_DIR: libraryDir, SVC_DATABASE_URL: test.databaseUrl, SVC_AUTH_SECRET_KEY: 'a key for tests only' }
  createUsedDataDir(dataDir)
  const svc = (...args: string[]) => runCommand(t, ['dat', ...args], env)
  t.match(await runSvc(t, ['dat', 'add', join(folder, 'swan.dat'), join(folder, 'broken.dat')], env).ended, {
    code: 1, output: /^Loaded Bandai - WonderSwan: 2 games\n[^]*Refused broken\.dat: line 2: not well-formed XML[^\n]*\n$/
  })
  t.match(await svc('add', '--platform', 'wonderswan', '--platform', 'lynx', join(folder, 'swan.dat')), { code: 0, output: /Loaded Bandai/ })
  t.match(await svc('list'), { output: /Bandai - WonderSwan \(wonderswan, lynx\)/ })
  t.match(await svc('add', '--platform', 'wonderswan', join(folder, 'swan.dat')), { code: 0 })
  t.match(await svc('add', join(folder, 'absent.dat'), folder, join(folder, 'notes.txt'), join(folder, 'swan.dat')), {
    code: 1, output: /^svc: .*absent\.dat cannot be read: ENOENT.*Give the path of a DAT\.\nsvc: .* is a folder\..*\nsvc: 'notes\.txt' is not .*\nLoaded Bandai[^\n]*\n$/
  }, 'one wrong file does not stop the others')
  const [{ id = 0 } = {}] = await sql<{ id: number }>("select id from dats where key = 'bandai - wonderswan'")
  t.match(await svc('list'), { code: 0, output: new RegExp(`^${id}  Bandai - WonderSwan \\(wonderswan\\): 1 have, 1 missing, 0 extra$`, 'm') })
  t.match(await svc('rename', String(id), '--dry-run'), { code: 0, output: 'wrong.ws → Swan.ws\n' })
  t.match(await svc('rename', String(id)), { code: 0, output: 'wrong.ws → Swan.ws\n1 renamed, 0 refused.\n' })
  t.match(await svc('fixdat', String(id), '--output', join(folder, 'swan.dat')), {
    code: 1, output: /^svc: .*swan\.dat cannot be written: EEXIST.* Give the path of a new file\.\n$/
  })
  t.match(await svc('fixdat', String(id)), { code: 0, output: /<game name="Gone">/ })
  t.match(await svc('remove', String(id), '999999'), { code: 1, output: new RegExp(`Deleted DAT ${id}\\.`) })
})
