import t from 'tap'
import { startFormerRoms } from './former-roms-support.ts'

const { put, scan, rom, roms, sql, asAdmin, hide, status } = await startFormerRoms(t)

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
