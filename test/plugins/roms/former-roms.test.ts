import { rm } from 'node:fs/promises'
import t from 'tap'
import { startFormerRoms } from './former-roms-support.ts'

const {
  put, scan, rom, roms, sql, at, asAdmin, hide, status, cleanUp
} = await startFormerRoms(t)

const platformId = async (folder: string) =>
  (await sql<{ id: number }>('select id from platforms where fs_slug = $1', [folder]))[0]?.id ?? 0

t.test('a deleted platform returns with its id, ROMs, name and hide rules', async (t) => {
  await put({ 'roms/gba/Kept.gba': 'kept', 'roms/gb/Other.gb': 'other' })
  await scan({ platform_fs_slugs: ['gba', 'gb'] })
  const [kept, other] = [await rom('gba', 'Kept.gba'), await rom('gb', 'Other.gb')]
  const [gba, gb] = [await platformId('gba'), await platformId('gb')]
  await hide('platforms', gba)
  await hide('roms', other.id)
  await asAdmin('PUT', `/api/platforms/${gba}`, { custom_name: 'Pocket games' })
  for (const id of [gba, gb]) await asAdmin('DELETE', `/api/platforms/${id}`)
  t.same(await roms('gba'), [])
  await scan({ platform_fs_slugs: ['gba', 'gb'] })
  t.equal(await platformId('gba'), gba)
  t.same(await sql('select custom_name from platforms where id = $1', [gba]), [{ custom_name: 'Pocket games' }])
  t.same([(await rom('gba', 'Kept.gba')).id, (await rom('gb', 'Other.gb')).id], [kept.id, other.id])
  t.equal(await status(kept.id), 404)
  t.equal(await status(other.id), 404)
})

t.test('empty, ambiguous and changed files get new ids', async (t) => {
  await put({ 'roms/nes/Empty.nes': '', 'roms/nes/Twin 1.nes': 'twin', 'roms/nes/Twin 2.nes': 'twin', 'roms/nes/Rest.nes': 'rest' })
  await scan({ platform_fs_slugs: ['nes'] })
  const before = new Set((await roms('nes')).map((one) => one.id))
  for (const name of ['Empty', 'Twin 1', 'Twin 2']) await rm(at(`nes/${name}.nes`))
  await cleanUp('nes')
  await put({ 'roms/nes/Void.nes': '', 'roms/nes/Triplet.nes': 'twin', 'roms/nes/Else.nes': 'else' })
  await scan({ platform_fs_slugs: ['nes'] })
  for (const name of ['Void.nes', 'Triplet.nes', 'Else.nes']) t.notOk(before.has((await rom('nes', name)).id), name)
  await put({ 'roms/nes/Twin 1.nes': 'changed meanwhile' })
  await scan({ platform_fs_slugs: ['nes'] })
  t.ok(before.has((await rom('nes', 'Twin 1.nes')).id), 'the place counts first')
})
