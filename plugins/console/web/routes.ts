import type { ComponentType } from 'preact'
import lazy from 'preact-iso/lazy'
import { isReachable, onReturn, probe } from './api/connection.ts'
import { reloadOnce } from './reload.ts'
import { Outdated } from './pages/errors/outdated.tsx'
import { VIEW_PATHS, type ViewPath } from './view-paths.ts'

/** The parts of paths. A page gets those of its own path. */
interface PathParts { id: string, slug?: string, section?: string, step?: string }
type View = ComponentType<PathParts>
interface ViewRoute { path: string, page: View }

type Load = () => Promise<{ default: View }>

const waitForServer = () => new Promise<void>((resolve) => { onReturn(resolve) })

/** The former page stays until the browser has loaded the next one. */
const waitForReload = () => new Promise<never>(() => {})

/**
 * Loads the script of a page. While the server does not answer, the former page stays. Browsers remember that a script
 * failed, so the page is loaded again when the server is back. An upgraded server has other scripts, so the page is
 * loaded again once, or says so.
 */
async function loadPage (load: Load): ReturnType<Load> {
  try {
    return await load()
  } catch (err) {
    await probe()
    if (!isReachable.value) {
      await waitForServer()
      location.reload()
      return await waitForReload()
    }
    if (reloadOnce()) return await waitForReload()
    reportError(err)
    return { default: Outdated }
  }
}

const page = (load: Load) => lazy<View>(() => loadPage(load))

/** The page of each view, which loads when it is first opened. */
const PAGES: Readonly<Record<ViewPath, View>> = {
  '': page(() => import('./pages/home/home.tsx')),
  platforms: page(() => import('./pages/platforms/platforms.tsx')),
  'platforms/:slug': page(() => import('./pages/library/library.tsx')),
  collections: page(() => import('./pages/collections/collections.tsx')),
  'collections/:id': page(() => import('./pages/collections/collection.tsx')),
  'collections/smart/:id': page(async () => ({ default: (await import('./pages/collections/collection.tsx')).Smart })),
  'collections/virtual/:id': page(async () => ({ default: (await import('./pages/collections/collection.tsx')).Virtual })),
  roms: page(() => import('./pages/library/library.tsx')),
  'roms/:id': page(() => import('./pages/rom/rom.tsx')),
  'roms/:id/edit': page(() => import('./pages/rom-edit/rom-edit.tsx')),
  'roms/:id/match': page(() => import('./pages/rom-match/rom-match.tsx')),
  'account/:section?': page(() => import('./pages/account/account.tsx')),
  notifications: page(() => import('./pages/notifications/notifications.tsx')),
  'pair/device': page(() => import('./pages/pair/pair.tsx')),
  'setup/:step?': page(() => import('./pages/setup/setup.tsx')),
  upload: page(() => import('./pages/upload/upload.tsx'))
}

/** The views, by their paths below the base URL. */
export const ROUTES: readonly ViewRoute[] = VIEW_PATHS.map((path) => ({ path, page: PAGES[path] }))
