import book from 'lucide/dist/esm/icons/book-open.mjs'
import languages from 'lucide/dist/esm/icons/languages.mjs'
import logIn from 'lucide/dist/esm/icons/log-in.mjs'
import logOut from 'lucide/dist/esm/icons/log-out.mjs'
import monitor from 'lucide/dist/esm/icons/monitor.mjs'
import moon from 'lucide/dist/esm/icons/moon.mjs'
import sun from 'lucide/dist/esm/icons/sun.mjs'
import upload from 'lucide/dist/esm/icons/upload.mjs'
import user from 'lucide/dist/esm/icons/user-round.mjs'
import wand from 'lucide/dist/esm/icons/wand-sparkles.mjs'
import { type User, holds, isAdministrator, isGuest, signOut } from '../api/session.ts'
import { addressOf } from '../base.ts'
import { LANGUAGES, type Language, chooseLanguage, languageOf, texts } from '../i18n/language.ts'
import { useView } from '../navigate.ts'
import { THEMES, type Theme, chooseTheme, theme } from '../theme.ts'
import { Avatar } from '../ui/avatar.tsx'
import { deleteDrafts } from '../ui/form-drafts.ts'
import { type MenuEntry, Menu } from '../ui/menu.tsx'
import { tellFailure } from '../ui/toast.tsx'

const THEME_ICONS = { system: monitor, light: sun, dark: moon }
const chosen = (label: string, isChosen: boolean) => isChosen ? `${label} ✓` : label

function themeEntry (name: Theme): MenuEntry {
  const label = chosen(texts().common.theme[name], theme.value === name)
  return { id: `theme-${name}`, label, icon: THEME_ICONS[name], onSelect: () => { chooseTheme(name) } }
}

function languageEntry (language: Language): MenuEntry {
  const label = chosen(LANGUAGES[language], languageOf() === language)
  return { id: `language-${language}`, label, icon: languages, onSelect: () => { chooseLanguage(language).catch(tellFailure) } }
}

function leave (): void {
  deleteDrafts()
  signOut().catch(tellFailure)
}

/** The account of the person, appearance, language and sign-out. */
export function AccountMenu ({ user: own }: { user: User }) {
  const { common, account, setup, upload: { title: addGames } } = texts()
  const { go } = useView()
  const name = own.username
  const personal: MenuEntry[] = isGuest(own) ? [] : [{ id: 'account', label: account.title, icon: user, onSelect: () => { go('account') } }]
  const library: MenuEntry[] = [
    ...holds('roms.write') ? [{ id: 'upload', label: addGames, icon: upload, onSelect: () => { go('upload') } }] : [],
    ...isAdministrator() ? [{ id: 'setup', label: setup.title, icon: wand, onSelect: () => { go('setup') } }] : []
  ]
  const last: MenuEntry = isGuest(own)
    ? { id: 'sign-in', label: common.signIn, icon: logIn, onSelect: () => { go('sign-in') } }
    : { id: 'sign-out', label: common.signOut, icon: logOut, onSelect: leave }
  const entries: MenuEntry[] = [
    ...personal, ...library, ...personal.length + library.length > 0 ? [null] : [],
    common.theme.title, ...THEMES.map(themeEntry),
    null, common.language, ...(Object.keys(LANGUAGES) as Language[]).map(languageEntry),
    null,
    { id: 'docs', label: common.apiDocs, icon: book, onSelect: () => { location.assign(addressOf('api/docs')) } },
    last
  ]
  return (
    <Menu entries={entries}>
      {(trigger) => (
        <button {...trigger} class='button button-quiet button-icon' aria-label={`${common.accountMenu}: ${name}`}>
          <Avatar user={own} />
        </button>
      )}
    </Menu>
  )
}
