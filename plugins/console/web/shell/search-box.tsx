import { useEffect, useRef, useState } from 'preact/hooks'
import search from 'lucide/dist/esm/icons/search.mjs'
import { texts } from '../i18n/language.ts'
import { useView } from '../navigate.ts'
import { Icon } from '../ui/icon.tsx'

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || /^(input|select|textarea)$/i.test(target.tagName))

/** Opens the library with a search; `/` or Ctrl-K moves the focus here. */
export function SearchBox () {
  const { common } = texts()
  const { query, go } = useView()
  const [term, setTerm] = useState(query.search ?? '')
  const input = useRef<HTMLInputElement>(null)

  useEffect(() => {
    function listen (event: KeyboardEvent): void {
      const isShortcut = (event.key === '/' && !isTyping(event.target)) || (event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey))
      if (!isShortcut) return
      event.preventDefault()
      input.current?.select()
    }
    addEventListener('keydown', listen)
    return () => { removeEventListener('keydown', listen) }
  }, [])

  return (
    <form
      class='shell-search input-with' role='search'
      onSubmit={(event) => { event.preventDefault(); go(`roms?search=${encodeURIComponent(term)}`) }}
    >
      <Icon node={search} />
      <input
        ref={input} class='input' type='search' aria-label={common.searchPlaceholder} placeholder={common.searchPlaceholder} value={term}
        title={common.searchHint} onInput={({ currentTarget }) => { setTerm(currentTarget.value) }}
      />
      <kbd aria-hidden>/</kbd>
    </form>
  )
}
