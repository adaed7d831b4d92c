import book from 'lucide/dist/esm/icons/book-open.mjs'
import languages from 'lucide/dist/esm/icons/languages.mjs'
import logOut from 'lucide/dist/esm/icons/log-out.mjs'
import monitor from 'lucide/dist/esm/icons/monitor.mjs'
import moon from 'lucide/dist/esm/icons/moon.mjs'
import sun from 'lucide/dist/esm/icons/sun.mjs'
import { accountOf, signOut } from '../api/session.ts'
import { addressOf } from '../base.ts'
import { LANGUAGES, type Language, chooseLanguage, languageOf, texts } from '../i18n/language.ts'
import { THEMES, type Theme, chooseTheme, theme } from '../theme.ts'
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

/** The account of the person, appearance, language and sign-out. */
export function AccountMenu () {
  const { common } = texts()
  const name = accountOf()?.username ?? ''
  const entries: MenuEntry[] = [
    common.theme.title, ...THEMES.map(themeEntry),
    null, common.language, ...(Object.keys(LANGUAGES) as Language[]).map(languageEntry),
    null,
    { id: 'docs', label: common.apiDocs, icon: book, onSelect: () => { location.assign(addressOf('api/docs')) } },
    { id: 'sign-out', label: common.signOut, icon: logOut, onSelect: () => { signOut().catch(tellFailure) } }
  ]
  return (
    <Menu entries={entries}>
      {(trigger) => (
        <button {...trigger} class='button button-quiet button-icon' aria-label={`${common.accountMenu}: ${name}`}>
          <span class='avatar' aria-hidden>{name.slice(0, 1)}</span>
        </button>
      )}
    </Menu>
  )
}
