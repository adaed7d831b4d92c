import search from 'lucide/dist/esm/icons/search.mjs'
import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { texts } from '../i18n/language.ts'
import { Icon } from '../ui/icon.tsx'
import { tellFailure } from '../ui/toast.tsx'
import { isTyping } from '../ui/typing.ts'
import type { PaletteProps } from './search/palette.tsx'

const isShortcut = (event: KeyboardEvent): boolean =>
  (event.key === '/' && !isTyping(event.target)) || (event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey) && !event.shiftKey)

/** Opens the search, as do `/` and Ctrl-K. Its script loads with the first use. */
export function SearchBox () {
  const { common, search: words } = texts()
  const [isOpen, setOpen] = useState(false)
  const [Palette, setPalette] = useState<ComponentType<PaletteProps> | null>(null)

  function open (): void {
    setOpen(true)
    import('./search/palette.tsx').then(({ Palette: loaded }) => { setPalette(() => loaded) }).catch(tellFailure)
  }

  useEffect(() => {
    function listen (event: KeyboardEvent): void {
      if (!isShortcut(event) || document.querySelector('dialog[open]') !== null) return
      event.preventDefault()
      open()
    }
    addEventListener('keydown', listen)
    return () => { removeEventListener('keydown', listen) }
  }, [])

  return (
    <>
      <search class='shell-search'>
        <button
          type='button' class='search-open' aria-haspopup='dialog' aria-keyshortcuts='/ Control+K' title={common.searchHint}
          onClick={open}
        >
          <Icon node={search} /><span>{words.open}</span><kbd aria-hidden>/</kbd>
        </button>
      </search>
      {isOpen && Palette !== null && <Palette onClose={() => { setOpen(false) }} />}
    </>
  )
}
