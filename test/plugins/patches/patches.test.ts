import { readFileSync, readdirSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import t from 'tap'
import { PatchError } from '../../../plugins/patches/apply/files.ts'
import { shareTestApp } from '../../support.ts'
import type { Part } from '../assets/support.ts'
import { makeZip } from '../hashing/fixtures.ts'
import { addRom } from '../roms/support.ts'
import { BASE, LIBRARY, PATCH, RESULT, fileIdsOf, fill, patch, sent } from './patches-support.ts'
import { ENCODERS, NEVER_SHORTER, applyIn } from './support.ts'

const bytes = (maxLength: number) => fc.uint8Array({ maxLength }).map((array) => Buffer.from(array))
/** Two files with much in common, as a ROM and its translation have. */
const changesOf = fc.array(fc.tuple(fc.nat(700), bytes(40), fc.boolean()), { maxLength: 6 })
const pair = fc.tuple(bytes(600), changesOf, fc.nat(900))
  .map(([base, changes, size]) => {
    const result = Buffer.concat([base, Buffer.alloc(1000)])
    for (const [at, some, isRun] of changes) (isRun ? Buffer.alloc(some.length, some[0] ?? 0) : some).copy(result, at)
    return { base, result: result.subarray(0, size) }
  })

for (const [format, encode] of Object.entries(ENCODERS)) {
  t.test(`${format}: a patch reproduces the file it was made from`, async (t) => {
    const folder = t.testdir({})
    fc.assert(fc.property(pair, ({ base, result: made }) => {
      const missing = Math.max(0, base.length - made.length)
      const result = NEVER_SHORTER.has(format) ? Buffer.concat([made, base.subarray(base.length - missing)]) : made
      const { isValid, result: found } = applyIn(folder, base, encode(base, result))
      t.ok(found.equals(result), `${found.length} bytes for ${result.length}`)
      t.equal(isValid, true)
    }), { numRuns: 30 })
  })

  t.test(`${format}: a damaged patch is refused or stays within the size limit`, async (t) => {
    const folder = t.testdir({})
    const changed = fc.tuple(pair, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 5 }), fc.nat())
    fc.assert(fc.property(changed, ([{ base, result }, changes, cut]) => {
      const patch = Buffer.from(encode(base, result))
      for (const [at, byte] of changes) patch[8 + at % Math.max(1, patch.length - 8)] = byte
      try {
        const end = cut % 3 === 0 ? cut % (patch.length + 1) : patch.length
        const made = applyIn(folder, base, patch.subarray(0, end), 5000)
        t.ok(made.result.length <= 5000)
      } catch (err) {
        t.ok(err instanceof PatchError, String(err))
      }
    }), { numRuns: 50 })
  })
}

t.test('patches of xdelta3, and patches packed by the bzip2 library, are applied', async (t) => {
  const folder = new URL('../fixtures/patches/', import.meta.url).pathname
  const [base, result] = [readFileSync(join(folder, 'base.bin')), readFileSync(join(folder, 'result.bin'))]
  const patches = readdirSync(folder).filter((name) => !name.endsWith('.bin'))
  t.ok(patches.length > 0)
  for (const name of patches) {
    const made = applyIn(t.testdir({}), base, readFileSync(join(folder, name)))
    t.ok(made.result.equals(result), name)
    t.equal(made.isValid, true, name)
  }
})

t.test('every format with a check of the base detects a wrong base', async (t) => {
  const [base, result] = [Buffer.from('one and the same text, more or less'), Buffer.from('one and the other text, more or less!')]
  const other = Buffer.from(base)
  other[2] = 0
  for (const format of ['ups', 'bps', 'rup', 'xdelta']) {
    const made = applyIn(t.testdir({}), other, ENCODERS[format]?.(base, result) ?? Buffer.alloc(0))
    t.equal(made.isValid, false, format)
  }
  t.throws(() => applyIn(t.testdir({}), base.subarray(0, 5), ENCODERS.bps?.(base, result) ?? Buffer.alloc(0)), /not the one/)
})

t.test('absurd sizes and positions are refused', async (t) => {
  const base = Buffer.from('base')
  const hostile = {
    'PPF record far behind the end': Buffer.concat([Buffer.from('PPF30\x02'), Buffer.alloc(54), Buffer.from('ffffffffff0f000001aa', 'hex')]),
    'PPF record at no number': Buffer.concat([Buffer.from('PPF30\x02'), Buffer.alloc(54), Buffer.from('ffffffffffffffff01aa', 'hex')]),
    'APS that makes 4 GiB': Buffer.concat([Buffer.from('APS10'), Buffer.alloc(52), Buffer.from('ffffffff', 'hex')]),
    'VCDIFF with a huge window': Buffer.from('d6c3c40000000a8fffffff7f0000000000', 'hex'),
    'VCDIFF that reads behind the base': Buffer.from('d6c3c400000164000601000000000000', 'hex'),
    'VCDIFF with a secondary compressor': Buffer.from('d6c3c40001020006010100000000', 'hex'),
    'BSDIFF with a negative size': Buffer.concat([Buffer.from('BSDIFF40'), Buffer.alloc(16), Buffer.from('0100000000000080', 'hex')]),
    'BSDIFF that promises too much': Buffer.concat([Buffer.from('BSDIFF40'), Buffer.alloc(16), Buffer.from('ffffffffff000000', 'hex')]),
    'PMSR with a piece longer than itself': Buffer.from('504d53520000000100000000ffffffff00', 'hex'),
    'IPS without an end': Buffer.from('PATCH'),
    'RUP with an endless number': Buffer.concat([Buffer.from('NINJA2'), Buffer.alloc(0x800 - 6), Buffer.of(1, 255)]),
    'nothing that is known': Buffer.from('PK\x03\x04 a zip')
  }
  for (const [name, patch] of Object.entries(hostile)) {
    t.throws(() => applyIn(t.testdir({}), base, patch), PatchError, name)
  }
})

const fresh = shareTestApp(t)

t.test('a file is sent patched by an uploaded or stored patch, and stays unchanged', async (t) => {
  const test = await fresh(t, { library: LIBRARY })
  const ids = await fill(test)
  const reply = await patch(test, ids['Game (USA).sfc'], [sent()])
  t.equal(reply.statusCode, 200, reply.body)
  t.equal(reply.body, String(RESULT))
  t.match(reply.headers, {
    'content-type': 'application/octet-stream', 'content-length': String(RESULT.length), 'x-patch-validated': 'true',
    'content-disposition': /^attachment; .*filename="Game \(USA\) \(patched-Translation\)\.sfc"/
  })
  const stored = await patch(test, ids['Game (USA).sfc'], [
    { name: 'patch_file_id', content: String(ids['Fix.bps']) }, { name: 'output_file_name', content: '../Mine.zip' }
  ])
  t.equal(stored.body, String(RESULT))
  t.match(stored.headers['content-disposition'], /filename="Mine\.sfc"/)
  t.same(readFileSync(join(test.libraryDir, 'roms/snes/Game (USA).sfc')), BASE)
  t.same(readdirSync(join(test.config.data_dir, 'patching')), [], 'nothing is left behind')
})

t.test('a game in an archive is patched, and the result has its extension', async (t) => {
  const zip = await makeZip([{ name: 'inner/A Game.smc', bytes: BASE }])
  const test = await fresh(t, { library: { roms: { snes: { 'Game (USA).zip': zip } } } })
  await addRom(test, { fs_name: 'Game (USA).zip' })
  const id = (await fileIdsOf(test))['Game (USA).zip']
  const reply = await patch(test, id, [sent()])
  t.equal(reply.statusCode, 200, reply.body)
  t.equal(reply.body, String(RESULT))
  t.match(reply.headers, {
    'x-patch-validated': 'true',
    'content-disposition': /^attachment; .*filename="Game \(USA\) \(patched-Translation\)\.smc"/
  })
  t.same(readFileSync(join(test.libraryDir, 'roms/snes/Game (USA).zip')), zip)
  t.same(readdirSync(join(test.config.data_dir, 'patching')), [], 'nothing is left behind')
})

t.test('an archive of several files, or a broken one, is not patched', async (t) => {
  const zip = await makeZip([{ name: 'a.smc', bytes: BASE }, { name: 'b.smc', bytes: BASE }])
  const single = await makeZip([{ name: 'a.smc', bytes: BASE }])
  const wrong = Buffer.from(single)
  const crc = Buffer.alloc(4)
  crc.writeUInt32LE(crc32(BASE))
  wrong.fill('crc!', wrong.lastIndexOf(crc), wrong.lastIndexOf(crc) + crc.length)
  const files = { 'Two.zip': zip, 'Broken.zip': single.subarray(0, 40), 'Wrong.zip': wrong, 'None.7z': Buffer.from('no archive') }
  const test = await fresh(t, { library: { roms: { snes: files } } })
  for (const name of Object.keys(files)) await addRom(test, { fs_name: name })
  const ids = await fileIdsOf(test)
  const messages = {
    'Two.zip': /contains 2 files.*Unpack it/, 'Broken.zip': /cannot be read/, 'Wrong.zip': /wrong checksum/, 'None.7z': /not a zip, 7z or rar/
  }
  for (const [name, message] of Object.entries(messages)) {
    const reply = await patch(test, ids[name], [sent()])
    t.equal(reply.statusCode, 400, reply.body)
    t.match(reply.json<{ detail: string }>().detail, message)
  }
})

t.test('a patch for another file is applied, and a header says so', async (t) => {
  const test = await fresh(t, { library: { roms: { snes: { 'Game (USA).sfc': 'The best of everything.' } } } })
  await addRom(test, { fs_name: 'Game (USA).sfc' })
  const reply = await patch(test, (await fileIdsOf(test))['Game (USA).sfc'], [sent()])
  t.match(reply, { statusCode: 200, headers: { 'x-patch-validated': 'false' } })
})

t.test('invalid requests are refused with a reason', async (t) => {
  const test = await fresh(t, { library: LIBRARY })
  const ids = await fill(test)
  const game = ids['Game (USA).sfc']
  const id = (value: unknown): Part => ({ name: 'patch_file_id', content: String(value) })
  const cases: [number, RegExp, number | undefined, Part[]][] = [
    [400, /either patch_file_id/, 4711, []],
    [400, /either patch_file_id/, 4711, [sent(), id(ids['Fix.bps'])]],
    [400, /must be an id/, game, [id('x')]],
    [404, /^ROM file with id 4711 not found$/, 4711, [sent()]],
    [404, /^Patch file with id 4711 not found$/, game, [id(4711)]],
    [400, /is not in a known format/, game, [sent(PATCH, 'x.zip')]],
    [400, /is not in a known format/, game, [sent(PATCH, '')]],
    [400, /is not in a known format/, game, [id(ids['Fix.txt'])]],
    [400, /empty/, game, [sent('')]],
    [400, /content of the patch is not in a known format/, game, [sent('no patch')]],
    [400, /broken/, game, [sent(PATCH.subarray(0, -1))]]
  ]
  for (const [status, words, file, parts] of cases) {
    const reply = await patch(test, file, parts)
    t.equal(reply.statusCode, status, reply.body)
    t.match(reply.json<{ detail: string }>().detail, words)
  }
  t.equal((await patch(test, game, [sent()], { authorization: '' })).statusCode, 401)
})

t.test('a file missing on disk is named in the error', async (t) => {
  const test = await fresh(t, { library: { roms: { snes: {} } } })
  const ids = await fill(test)
  const reply = await patch(test, ids['Game (USA).sfc'], [sent()])
  t.match([reply.statusCode, reply.json<{ detail: string }>().detail], [404, "ROM file 'Game (USA).sfc' is missing from filesystem"])
})

t.test('a patch in a library that is not mounted can be tried again', async (t) => {
  const test = await fresh(t, { library: { roms: { snes: {} } } })
  const ids = await fill(test)
  await rename(test.libraryDir, `${test.libraryDir}.away`)
  t.teardown(() => rename(`${test.libraryDir}.away`, test.libraryDir))
  const reply = await patch(test, ids['Game (USA).sfc'], [sent()])
  t.match([reply.statusCode, reply.json<{ detail: string }>().detail], [503, /mount its disk/])
})

t.test('V9: a hidden file is not patched, and a hidden patch is not found', async (t) => {
  const test = await fresh(t, { library: LIBRARY })
  const ids = await fill(test)
  const bob = await test.createUser('bob')
  const hide = (name: string) => test.app.pg.query(`insert into hidden_entities (entity, entity_id, user_id)
    select 'roms', r.id, u.id from roms r, users u where u.username = 'bob' and r.fs_name = $1`, [name])
  await hide('Hack')
  t.equal((await patch(test, ids['Game (USA).sfc'], [sent()], bob)).statusCode, 200)
  const reply = await patch(test, ids['Game (USA).sfc'], [{ name: 'patch_file_id', content: String(ids['Fix.bps']) }], bob)
  t.match(reply.json<{ detail: string }>().detail, /^Patch file with id/)
  await hide('Game (USA).sfc')
  t.equal((await patch(test, ids['Game (USA).sfc'], [sent()], bob)).statusCode, 404)
})
