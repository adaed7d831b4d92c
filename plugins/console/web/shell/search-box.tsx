import search from 'lucide/dist/esm/icons/search.mjs'
import type { ComponentType } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { texts } from '../i18n/language.ts'
import { Icon } from '../ui/icon.tsx'
import { tellFailure } from '../ui/toast.tsx'
import { isTyping } from '../ui/typing.ts'
import type { PaletteProps } from './search/palette.tsx'

const isShortcut = (event: KeyboardEvent): boolean =>
  (event.key === '/' && !isTyping(event.target)) || (event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey) && !event.shiftKey)

const isLetter = ({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean =>
  key.length === 1 && !ctrlKey && !metaKey && !altKey

/** Opens the search, as do `/` and Ctrl-K. Its script loads with the first use. */
export function SearchBox () {
  const { common, search: words } = texts()
  const [isOpen, setOpen] = useState(false)
  const [Palette, setPalette] = useState<ComponentType<PaletteProps> | null>(null)
  /** The letters typed while the script loads; null while the search is closed. */
  const typed = useRef<string | null>(null)

  function close (): void {
    typed.current = null
    setOpen(false)
  }

  function open (): void {
    if (typed.current !== null) return
    typed.current = ''
    setOpen(true)
    import('./search/palette.tsx').then(({ Palette: loaded }) => { setPalette(() => loaded) }).catch((err: unknown) => {
      close()
      tellFailure(err)
    })
  }

  useEffect(() => {
    function listen (event: KeyboardEvent): void {
      if (document.querySelector('dialog[open]') !== null) return
      if (typed.current !== null && isLetter(event)) typed.current += event.key
      else if (isShortcut(event)) open()
      else return
      event.preventDefault()
    }
    addEventListener('keydown', listen)
    return () => { removeEventListener('keydown', listen) }
  }, [])

  return (
    <>
      <search class='shell-search'>
        <button
          type='button' class='search-open' aria-haspopup='dialog' aria-keyshortcuts='/ Control+K' title={common.searchHint}
          aria-busy={isOpen && Palette === null} onClick={open}
        >
          <Icon node={search} /><span>{words.open}</span><kbd aria-hidden>/</kbd>
        </button>
      </search>
      {isOpen && Palette !== null && <Palette start={typed.current ?? ''} onClose={close} />}
    </>
  )
}
