import { createHash } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { findChdman } from '../../plugins/conversion/chdman.ts'
import { makeIso, noise, toRaw } from '../plugins/hashing/disc-images.ts'
import { buildScanTest } from '../plugins/scans/support.ts'
import { installDebian } from './install-debian.ts'

/** Installs the program if possible. @returns true if it is installed */
const hasChdman = () => installDebian(['mame-tools'], async () => await findChdman() !== null)

const SECTOR = 2352
const data = (seed: number) => toRaw(makeIso({ 'SYSTEM.CNF': Buffer.from('BOOT = cdrom:\\SLES_123.45;1'), 'SLES_123.45': noise(400_000, seed) }), 2)
/** Creates a sine wave, which the audio codec compresses well. */
function audio (sectors: number): Buffer {
  const samples = Buffer.alloc(sectors * SECTOR)
  for (let at = 0; at < samples.length; at += 4) {
    samples.writeInt16LE(Math.round(8_000 * Math.sin(at / 200)), at)
    samples.writeInt16LE(Math.round(8_000 * Math.cos(at / 300)), at + 2)
  }
  return samples
}

const sheet = (name: string, audioIndexes: string) => `FILE "${name} (Track 1).bin" BINARY\r\n  TRACK 01 MODE2/2352\r\n    INDEX 01 00:00:00\r\n` +
  `FILE "${name} (Track 2).bin" BINARY\r\n  TRACK 02 AUDIO\r\n${audioIndexes}`
const PREGAP = '    INDEX 00 00:00:00\r\n    INDEX 01 00:02:00\r\n'
const sha1 = (...pieces: Uint8Array[]) => {
  const hash = createHash('sha1')
  for (const piece of pieces) hash.update(piece)
  return hash.digest('hex')
}

if (!await hasChdman()) {
  t.plan(0, 'chdman is not installed, and cannot be installed here')
} else {
  const { app, admin, put, scan, rom, roms, sql, finished, libraryDir } = await buildScanTest(t, { providers: ['alpha'] })
  const at = (...parts: string[]) => join(libraryDir, 'roms', ...parts)
  const list = async (folder: string) => (await readdir(at(folder), { recursive: true })).sort()

  async function convert (payload: object) {
    const answer = await app.inject({ method: 'POST', url: '/api/tasks/run/convert_library', headers: admin, payload })
    t.equal(answer.statusCode, 200, answer.body)
    const { status, meta } = await finished(answer.json<{ task_id: string }>().task_id)
    return { status, meta: meta as unknown as Record<string, unknown> }
  }

  const discs = [1, 2].map((disc) => {
    const name = `Tale (Disc ${disc})`
    return { name, tracks: [data(disc), Buffer.concat([Buffer.alloc(150 * SECTOR), audio(200 + disc)])] }
  })

  t.test('discs with their playlist become CHDs and the originals again, byte by byte', async (t) => {
    const folder = 'roms/psx/Tale (Europe)'
    for (const { name, tracks } of discs) {
      await put({
        [`${folder}/${name}.cue`]: sheet(name, PREGAP), [`${folder}/${name} (Track 1).bin`]: tracks[0] ?? '',
        [`${folder}/${name} (Track 2).bin`]: tracks[1] ?? ''
      })
    }
    await put({ [`${folder}/Tale.m3u`]: '# discs\r\nTale (Disc 1).cue\r\nTale (Disc 2).cue\r\n' })
    await scan({ platform_fs_slugs: ['psx'] })
    const before = await rom('psx', 'Tale (Europe)')
    const foreseen = await convert({ to: 'chd', dry_run: true })
    t.match(foreseen.meta, { converted_count: 1, converted: [{ to: 'chd, chd' }] })
    const made = await convert({ to: 'chd' })
    t.match(made, { status: 'finished', meta: { conversion_stats: { processed: 1, errors: 0 }, converted: [{ rom_id: before.id }] } })
    t.comment(JSON.stringify(made.meta.converted))
    t.same(await list('psx'), ['Tale (Europe)', ...['Tale (Disc 1).chd', 'Tale (Disc 2).chd', 'Tale.m3u'].map((name) => `Tale (Europe)/${name}`)])
    t.equal(await readFile(at('psx', 'Tale (Europe)', 'Tale.m3u'), 'utf8'), '# discs\r\nTale (Disc 1).chd\r\nTale (Disc 2).chd\r\n')
    t.match(await rom('psx', 'Tale (Europe)'), { id: before.id, name: before.name, tags: before.tags })
    t.equal((await sql("select 1 from rom_files where file_name like '%.chd' and chd_sha1_hash is not null")).length, 2)
    t.match((await scan({ platform_fs_slugs: ['psx'] })).meta.scan_stats, { new_roms: 0, updated_roms: 0 })

    t.match(await convert({ to: 'plain' }), { status: 'finished', meta: { conversion_stats: { processed: 1, errors: 0 } } })
    for (const { name, tracks } of discs) t.equal(sha1(await readFile(at('psx', 'Tale (Europe)', `${name}.bin`))), sha1(...tracks), name)
    t.equal(await readFile(at('psx', 'Tale (Europe)', 'Tale.m3u'), 'utf8'), '# discs\r\nTale (Disc 1).cue\r\nTale (Disc 2).cue\r\n')
    t.equal((await rom('psx', 'Tale (Europe)')).id, before.id)
    t.match((await scan({ platform_fs_slugs: ['psx'] })).meta.scan_stats, { new_roms: 0, updated_roms: 0 })

    t.match(await convert({ to: 'chd' }), { meta: { conversion_stats: { errors: 0 } } }, 'and again, from one file a disc')
    await sql("delete from platforms where fs_slug = 'psx'")
  })

  t.test('an image of one file becomes a CHD, which becomes a folder with a sheet', async (t) => {
    const image = makeIso({ 'GAME.BIN': noise(300_000, 3) })
    await put({ 'roms/saturn/Small (Japan).iso': image })
    await scan({ platform_fs_slugs: ['saturn'] })
    const { id, name } = await rom('saturn', 'Small (Japan).iso')
    t.match(await convert({ to: 'chd', rom_ids: [id] }), { meta: { conversion_stats: { errors: 0 }, converted: [{ to: 'Small (Japan).chd' }] } })
    t.match(await roms('saturn'), [{ id, name, fs_name: 'Small (Japan).chd' }])
    t.match(await convert({ to: 'plain', rom_ids: [id] }), { meta: { conversion_stats: { errors: 0 } } })
    t.same(await list('saturn'), ['Small (Japan)', 'Small (Japan)/Small (Japan).bin', 'Small (Japan)/Small (Japan).cue'])
    t.equal(sha1(await readFile(at('saturn', 'Small (Japan)', 'Small (Japan).bin'))), sha1(image))
    t.match(await roms('saturn'), [{ id, name, fs_name: 'Small (Japan)' }])
    t.match((await scan({ platform_fs_slugs: ['saturn'] })).meta.scan_stats, { new_roms: 0, updated_roms: 0 })
  })

  t.test('a disc whose CHD would lose data stays as it is', async (t) => {
    const folder = 'roms/segacd/Odd'
    await put({
      [`${folder}/Odd.cue`]: `CATALOG 0000000000000\n${sheet('Odd', '    INDEX 01 00:00:00\r\n')}`,
      [`${folder}/Odd (Track 1).bin`]: data(4), [`${folder}/Odd (Track 2).bin`]: audio(100),
      'roms/3do/Lost/Lost.cue': sheet('Lost', PREGAP), 'roms/3do/Lost/Lost (Track 1).bin': data(5),
      'roms/dc/Bad/Bad.chd': 'MComprHD and nothing else'
    })
    await scan({ platform_fs_slugs: ['segacd', '3do', 'dc'] })
    const before = await Promise.all(['segacd', '3do', 'dc'].map(list))
    const { meta } = await convert({ to: 'chd' })
    t.match(JSON.stringify(meta.left), /cannot store CATALOG.*|names is not in the same folder/)
    t.match(await convert({ to: 'plain', rom_ids: [(await rom('dc', 'Bad')).id] }), { meta: { conversion_stats: { errors: 1 } } })
    t.same(await Promise.all(['segacd', '3do', 'dc'].map(list)), before)
    t.same(await sql('select * from rom_conversions'), [])
  })
}
