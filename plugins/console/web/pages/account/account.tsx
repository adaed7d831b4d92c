import bell from 'lucide/dist/esm/icons/bell-ring.mjs'
import key from 'lucide/dist/esm/icons/key-round.mjs'
import shield from 'lucide/dist/esm/icons/shield-check.mjs'
import user from 'lucide/dist/esm/icons/user-round.mjs'
import type { IconNode } from 'lucide'
import type { ComponentType } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { type User, accountOf, isGuest } from '../../api/session.ts'
import { texts } from '../../i18n/language.ts'
import type { Messages } from '../../i18n/en.ts'
import { useTitle } from '../../navigate.ts'
import { Icon } from '../../ui/icon.tsx'
import { Forbidden, NotFound } from '../errors/errors.tsx'
import { Channels } from './channels.tsx'
import { Profile } from './profile.tsx'
import { Security } from './security.tsx'
import { Tokens } from './tokens.tsx'

interface Section {
  path: string
  name: keyof Messages['account']['sections']
  icon: IconNode
  content: ComponentType<{ user: User }>
}

const SECTIONS: readonly Section[] = [
  { path: 'account', name: 'profile', icon: user, content: Profile },
  { path: 'account/security', name: 'security', icon: shield, content: Security },
  { path: 'account/tokens', name: 'tokens', icon: key, content: Tokens },
  { path: 'account/channels', name: 'channels', icon: bell, content: Channels }
]

/**
 * Scrolls to the link of the current section, because on phones the sections are wider than the screen. The function of
 * browsers for that would let the next Tab begin at the link.
 */
function showCurrent (nav: HTMLElement): void {
  const link = nav.querySelector('[aria-current]')?.getBoundingClientRect()
  if (link === undefined) return
  const { left, right } = nav.getBoundingClientRect()
  nav.scrollBy({ left: Math.min(0, link.left - left) + Math.max(0, link.right - right) })
}

/** The settings of one's own account, in sections with addresses of their own. */
export default function Account ({ section }: { section?: string }) {
  const { account } = texts()
  const current = SECTIONS.find(({ path }) => path === (section === undefined ? 'account' : `account/${section}`))
  useTitle(current === undefined ? undefined : account.sections[current.name])
  const nav = useRef<HTMLElement>(null)
  useEffect(() => { if (nav.current !== null) showCurrent(nav.current) }, [section])
  const own = accountOf()
  if (current === undefined) return <NotFound />
  if (own === null || isGuest(own)) return <Forbidden />
  const { content: Content } = current
  return (
    <>
      <div class='page-head'><h1>{account.title}</h1></div>
      <div class='account'>
        <nav class='account-nav' ref={nav} aria-label={account.title}>
          {SECTIONS.map(({ path, name, icon }) => (
            <a key={path} class='shell-link' href={path} aria-current={path === current.path ? 'page' : undefined}>
              <Icon node={icon} />{account.sections[name]}
            </a>
          ))}
        </nav>
        <div class='account-content'><Content user={own} /></div>
      </div>
    </>
  )
}
