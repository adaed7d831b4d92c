import t, { type Test } from 'tap'
import { ENTRANCE_PATHS, type EntrancePath, VIEW_PATHS, type ViewPath } from '../../plugins/console/web/view-paths.ts'
import { createForm } from '../plugins/assets/support.ts'
import { type TestApp, buildTestApp } from '../support.ts'
import { type Journey, runJourney, seePicture } from './browser.ts'
import { LIST_PROVIDER, makeLibrary } from './library.ts'

t.test('every view is accessible in light, dark and on a phone', async (t) => {
  const test = await buildTestApp(t, { worker: true, packages: LIST_PROVIDER })
  await makeLibrary(test.libraryDir, 24)
  await test.app.inject({ method: 'POST', url: '/api/tasks/run/scan_library', headers: test.admin })
  await runJourney(t, test, async (journey) => {
    await journey.signIn('admin', 'a password')
    await journey.open('roms')
    await seePicture(journey.page, '.grid')
    await visitAll(t, test, journey)
  })
})

/** Returns addresses of each view, so that a new one cannot be forgotten. */
async function listAddresses ({ app, admin }: TestApp): Promise<Record<ViewPath | EntrancePath, readonly string[]>> {
  async function create (url: string, fields: Readonly<Record<string, string>>): Promise<number> {
    const { headers, payload } = createForm(Object.entries(fields).map(([name, content]) => ({ name, content })))
    return (await app.inject({ method: 'POST', url, headers: { ...admin, ...headers }, payload })).json<{ id: number }>().id
  }
  const { items } = (await app.inject({ url: '/api/roms?limit=1', headers: admin })).json<{ items: { id: number }[] }>()
  const id = items[0]?.id ?? 0
  const collection = await create('/api/collections', { name: 'Sundays' })
  await app.inject({ method: 'POST', url: `/api/collections/${collection}/roms`, headers: admin, payload: { rom_ids: [id] } })
  const smart = await create('/api/collections/smart', { name: 'On Mondays', filter_criteria: '{}' })
  const found = (await app.inject({ url: '/api/collections/virtual?type=genre', headers: admin })).json<{ id: string }[]>()
  return {
    '': [''],
    platforms: ['platforms'],
    'platforms/:slug': ['platforms/snes', 'platforms/nowhere'],
    collections: ['collections'],
    'collections/:id': [`collections/${collection}`],
    'collections/smart/:id': [`collections/smart/${smart}`],
    'collections/virtual/:id': [`collections/virtual/${found[0]?.id}`],
    roms: ['roms'],
    'roms/:id': [`roms/${id}`, `roms/${id}?tab=files`],
    'roms/:id/edit': [`roms/${id}/edit`],
    // It needs a provider that searches, which game.test.ts has.
    'roms/:id/match': [],
    'account/:section?': ['account', 'account/security', 'account/tokens', 'account/channels'],
    notifications: ['notifications'],
    'pair/device': ['pair/device'],
    'setup/:step?': ['setup', 'setup/providers', 'setup/scan'],
    upload: ['upload'],
    register: ['register'],
    'reset-password': ['reset-password'],
    'forgot-password': ['forgot-password']
  }
}

async function visitAll (t: Test, test: TestApp, { page, open, checkAccessibility }: Journey): Promise<void> {
  const addresses = await listAddresses(test)
  t.same(Object.keys(addresses).toSorted(), [...VIEW_PATHS, ...ENTRANCE_PATHS].toSorted(), 'every view is visited')
  for (const view of [...Object.values(addresses).flat(), 'nowhere']) {
    await open(view)
    await page.waitForSelector('h1')
    await page.waitForFunction(() => document.querySelector('.skeleton') === null)
    await page.waitForFunction(() => document.title.endsWith(' · svc'))
    await checkAccessibility(view)
  }
}
