import type { ComponentType } from 'preact'
import lazy from 'preact-iso/lazy'

/** A page gets the parts of its path, such as `id`, as texts. */
interface ViewRoute { path: string, page: ComponentType }

const page = <Props extends object>(load: () => Promise<{ default: ComponentType<Props> }>) => lazy(load) as unknown as ComponentType

/** The views, by their paths below the base URL. A page loads when it is first opened. */
export const ROUTES: readonly ViewRoute[] = [
  { path: '', page: page(() => import('./pages/home/home.tsx')) },
  { path: 'platforms', page: page(() => import('./pages/platforms/platforms.tsx')) },
  { path: 'platforms/:slug', page: page(() => import('./pages/library/library.tsx')) },
  { path: 'roms', page: page(() => import('./pages/library/library.tsx')) },
  { path: 'roms/:id', page: page(() => import('./pages/rom/rom.tsx')) }
]
