import { PLATFORMS } from '@svc/plugin-sdk'
import fc from 'fast-check'
import t from 'tap'
import { factsOf, resolvePlatform } from '../../../plugins/platforms/find-platform.ts'

const NONE = { platforms: {}, versions: {} }

t.test('a folder is the platform with its slug or alias, ignoring case', async (t) => {
  t.match(resolvePlatform('SNES', NONE), { slug: 'snes', facts: { igdb_id: 19 } })
  t.match(resolvePlatform('PlayStation', NONE), { slug: 'psx', name: 'PlayStation' })
  for (const { slug, name } of PLATFORMS) t.match(resolvePlatform(slug, NONE), { slug, name })
})

t.test('a folder with a full name of a platform is that platform', async (t) => {
  const folders = [
    ['Sony - PlayStation', 'psx'], ['Nintendo - Super Nintendo Entertainment System', 'snes'], ['Nintendo Entertainment System', 'nes'],
    ['Commodore - Amiga', 'amiga'], ['NEC - PC Engine - TurboGrafx 16', 'tg16'], ['Sega Genesis', 'genesis'], ['game boy advance', 'gba']
  ] as const
  for (const [folder, slug] of folders) t.match(resolvePlatform(folder, NONE), { slug, facts: { slug } })
})

t.test('an unknown folder is its own platform with a readable name', async (t) => {
  t.same(resolvePlatform('my-odd_console', NONE), { slug: 'my-odd_console', name: 'My Odd Console', facts: null })
  t.match(resolvePlatform('Some - Odd  Console', NONE), { name: 'Some Odd Console' })
  t.same(resolvePlatform('---', NONE), { slug: '---', name: '---', facts: null })
  fc.assert(fc.property(fc.string({ minLength: 1 }), (folder) => {
    const { slug, name } = resolvePlatform(folder, NONE)
    return slug !== '' && name !== ''
  }))
})

t.test('a binding precedes everything else', async (t) => {
  const bindings = { platforms: { Super_Famicom: 'SFAM', gb: 'snes' }, versions: { gb: 'nes' } }
  t.match(resolvePlatform('super_famicom', bindings), { slug: 'sfam', facts: { slug: 'sfam' } })
  t.match(resolvePlatform('gb', bindings), { slug: 'snes', facts: { slug: 'snes' } })
  t.match(resolvePlatform('x', { platforms: { x: 'nobody knows' }, versions: {} }), { slug: 'nobody knows', facts: null })
})

t.test('a console model is its own platform with the ids of that console', async (t) => {
  t.match(resolvePlatform('Nintendo-2DS', NONE), { slug: 'nintendo-2ds', name: 'Nintendo 2DS', facts: { slug: '3ds', igdb_id: 37 } })
  t.match(resolvePlatform('sega-master-system', NONE), { slug: 'sms' }, 'an alias goes before')
})

t.test('a version keeps its slug and name and gets the facts of its parent', async (t) => {
  const bindings = { platforms: {}, versions: { 'Neo-Board': 'arcade' } }
  const resolved = resolvePlatform('neo-board', bindings)
  t.match(resolved, { slug: 'neo-board', name: 'Neo Board', facts: { slug: 'arcade' } })
  t.equal(factsOf({ slug: 'neo-board', fs_slug: 'neo-board' }, bindings)?.slug, 'arcade')
  t.equal(factsOf({ slug: 'snes', fs_slug: 'neo-board' }, bindings)?.slug, 'snes', 'a row from before the setting')
})
