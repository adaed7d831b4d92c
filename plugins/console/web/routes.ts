import type { ComponentType } from 'preact'
import lazy from 'preact-iso/lazy'
import { isReachable, onReturn, probe } from './api/connection.ts'
import { reloadOnce } from './reload.ts'
import { Outdated } from './pages/errors/outdated.tsx'

/** A page gets the parts of its path, such as `id`, as texts. */
interface ViewRoute { path: string, page: ComponentType }

type Load<Props extends object> = () => Promise<{ default: ComponentType<Props> }>

const waitForServer = () => new Promise<void>((resolve) => { onReturn(resolve) })

/**
 * Loads the script of a page. While the server does not answer, the former page stays. An upgraded server has other
 * scripts, so the page is loaded again, or says so.
 */
async function loadPage<Props extends object> (load: Load<Props>): ReturnType<Load<Props>> {
  try {
    return await load()
  } catch (err) {
    await probe()
    if (!isReachable.value) {
      await waitForServer()
      return await loadPage(load)
    }
    reportError(err)
    reloadOnce()
    return { default: Outdated as ComponentType<Props> }
  }
}

const page = <Props extends object>(load: Load<Props>) => lazy(() => loadPage(load)) as unknown as ComponentType

/** The views, by their paths below the base URL. A page loads when it is first opened. */
export const ROUTES: readonly ViewRoute[] = [
  { path: '', page: page(() => import('./pages/home/home.tsx')) },
  { path: 'platforms', page: page(() => import('./pages/platforms/platforms.tsx')) },
  { path: 'platforms/:slug', page: page(() => import('./pages/library/library.tsx')) },
  { path: 'collections', page: page(() => import('./pages/collections/collections.tsx')) },
  { path: 'collections/:id', page: page(() => import('./pages/collections/collection.tsx')) },
  { path: 'collections/smart/:id', page: page(async () => ({ default: (await import('./pages/collections/collection.tsx')).Smart })) },
  { path: 'collections/virtual/:id', page: page(async () => ({ default: (await import('./pages/collections/collection.tsx')).Virtual })) },
  { path: 'roms', page: page(() => import('./pages/library/library.tsx')) },
  { path: 'roms/:id', page: page(() => import('./pages/rom/rom.tsx')) },
  { path: 'roms/:id/edit', page: page(() => import('./pages/rom-edit/rom-edit.tsx')) },
  { path: 'roms/:id/match', page: page(() => import('./pages/rom-match/rom-match.tsx')) },
  { path: 'account/:section?', page: page(() => import('./pages/account/account.tsx')) },
  { path: 'notifications', page: page(() => import('./pages/notifications/notifications.tsx')) },
  { path: 'pair/device', page: page(() => import('./pages/pair/pair.tsx')) },
  { path: 'setup/:step?', page: page(() => import('./pages/setup/setup.tsx')) },
  { path: 'upload', page: page(() => import('./pages/upload/upload.tsx')) }
]
