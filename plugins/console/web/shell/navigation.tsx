import house from 'lucide/dist/esm/icons/house.mjs'
import gamepad from 'lucide/dist/esm/icons/gamepad-2.mjs'
import grid from 'lucide/dist/esm/icons/layout-grid.mjs'
import library from 'lucide/dist/esm/icons/library-big.mjs'
import type { IconNode } from 'lucide'
import { texts } from '../i18n/language.ts'
import type { Messages } from '../i18n/en.ts'
import { useView } from '../navigate.ts'
import { Icon } from '../ui/icon.tsx'

interface Destination { path: string, name: keyof Messages['common']['nav'], icon: IconNode }

/** The main pages. Phones show at most five. */
const DESTINATIONS: readonly Destination[] = [
  { path: '', name: 'home', icon: house },
  { path: 'platforms', name: 'platforms', icon: gamepad },
  { path: 'roms', name: 'library', icon: grid },
  { path: 'collections', name: 'collections', icon: library }
]

const isCurrent = (view: string, path: string) => view === path || (path !== '' && view.startsWith(`${path}/`))

/** The main navigation: at the side, or at the bottom of a phone. */
export function Navigation () {
  const { path: view } = useView()
  const { common } = texts()
  return (
    <nav class='shell-nav' aria-label={common.navigation}>
      <a class='shell-brand' href='./'><img src={icon()} alt='' />{common.appName}</a>
      {DESTINATIONS.map(({ path, name, icon }) => (
        <a key={path} class='shell-link' href={path === '' ? './' : path} aria-current={isCurrent(view, path) ? 'page' : undefined}>
          <Icon node={icon} />{common.nav[name]}
        </a>
      ))}
    </nav>
  )
}

/** Returns the address of the icon, which the page names. */
const icon = (): string => document.querySelector<HTMLLinkElement>('link[rel=icon]')?.href ?? ''
