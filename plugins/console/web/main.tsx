import { render } from 'preact'
import { App } from './app.tsx'
import { followGamepads } from './gamepad/gamepad.ts'
import { loadLanguage } from './i18n/language.ts'
import { ignoreCurrentLinks } from './navigate.ts'
import { loadTheme } from './theme.ts'
import { keepFocus } from './ui/keep-focus.ts'

loadTheme()
followGamepads()
keepFocus()
ignoreCurrentLinks()
const root = document.getElementById('app')
if (root === null) throw new Error('The page has no element #app')
// A language that cannot be loaded must not keep people out.
await loadLanguage().catch(() => {})
render(<App />, root)
