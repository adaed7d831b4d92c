import { signal } from '@preact/signals'
import clock from 'lucide/dist/esm/icons/clock.mjs'
import gamepad from 'lucide/dist/esm/icons/gamepad-2.mjs'
import library from 'lucide/dist/esm/icons/library-big.mjs'
import searchIcon from 'lucide/dist/esm/icons/search.mjs'
import user from 'lucide/dist/esm/icons/user.mjs'
import arrow from 'lucide/dist/esm/icons/arrow-right.mjs'
import x from 'lucide/dist/esm/icons/x.mjs'
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { texts } from '../../i18n/language.ts'
import { useView } from '../../navigate.ts'
import { IconButton } from '../../ui/button.tsx'
import { pictureOf } from '../../ui/cover.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Notice } from '../../ui/state.tsx'
import { type SearchEntry, type SearchGroup, addRecent } from './find-entries.ts'
import { useAnswers } from './use-answers.ts'

/** The last searches, in memory only. */
const recent = signal<readonly string[]>([])

const ICONS = { recent: clock, games: gamepad, platforms: gamepad, collections: library, users: user }
const GROUPS: readonly SearchGroup[] = ['recent', 'games', 'platforms', 'collections', 'users']

const libraryOf = (term: string) => `roms?search=${encodeURIComponent(term)}`

interface OptionProps { entry: SearchEntry, id: string, isActive: boolean, onChoose: () => void, onPoint: () => void }

const Option = ({ entry: { group, label, note, picture }, id, isActive, onChoose, onPoint }: OptionProps) => (
  <div id={id} role='option' aria-selected={isActive} class='palette-option' onClick={onChoose} onPointerMove={onPoint}>
    {picture === '' ? <span class='palette-icon'><Icon node={ICONS[group]} /></span> : <img class='palette-picture' src={pictureOf(picture)} alt='' />}
    <span class='palette-label'>{label}</span>
    {note !== '' && <span class='faint palette-note'>{note}</span>}
  </div>
)

interface GroupProps {
  id: string
  group: SearchGroup
  entries: readonly SearchEntry[]
  active: number
  /** The entry that shows all games in the library. */
  all: SearchEntry
  onChoose: (entry: SearchEntry) => void
  onPoint: (index: number) => void
}

/** The answers of one group, with their heading. */
function Group ({ id, group, entries, active, all, onChoose, onPoint }: GroupProps) {
  const members = entries.flatMap((entry, index) => entry.group === group ? [{ entry, index }] : [])
  if (members.length === 0) return null
  return (
    <div role='group' aria-labelledby={`${id}-${group}`} class='palette-group'>
      <div id={`${id}-${group}`} class='palette-heading' role='presentation'>{texts().search[group]}</div>
      {members.map(({ entry, index }) => entry === all
        ? (
          <div
            key='all' id={`${id}-${index}`} role='option' aria-selected={index === active} class='palette-option palette-all'
            onClick={() => { onChoose(entry) }} onPointerMove={() => { onPoint(index) }}
          >
            <span class='palette-icon'><Icon node={arrow} /></span>{entry.label}
          </div>
          )
        : (
          <Option
            key={entry.id} id={`${id}-${index}`} entry={entry} isActive={index === active}
            onChoose={() => { onChoose(entry) }} onPoint={() => { onPoint(index) }}
          />
          ))}
    </div>
  )
}

export interface PaletteProps {
  /** The text that was typed before the search opened. */
  start: string
  onClose: () => void
}

/** The search across games, platforms, collections and, for administrators, users. Arrows move, Enter opens. */
export function Palette ({ start, onClose }: PaletteProps) {
  const { common, search: words } = texts()
  const { go } = useView()
  const id = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  const [typed, setTyped] = useState(start)
  const [active, setActive] = useState(0)
  const { term, entries: found, total, isLoading, failure } = useAnswers(typed)
  useLayoutEffect(() => { dialog.current?.showModal() }, [])
  useEffect(() => { setActive(0) }, [term])

  const before = recent.value.map((text): SearchEntry => ({ id: `recent ${text}`, group: 'recent', label: text, note: '', picture: '', target: text }))
  const all: SearchEntry = { id: 'all', group: 'games', label: total === null ? words.showAll : words.showCounted(total), note: '', picture: '', target: libraryOf(term) }
  const games = found.filter(({ group }) => group === 'games')
  const others = found.filter(({ group }) => group !== 'games')
  const entries = term === '' ? before : [...games, ...(total === 0 ? [] : [all]), ...others]

  function choose (entry: SearchEntry): void {
    if (entry.group === 'recent') {
      setTyped(entry.target)
      return
    }
    recent.value = addRecent(recent.value, term)
    dialog.current?.close()
    go(entry.target)
  }

  function handleKey (event: KeyboardEvent): void {
    const { length } = entries
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined && length > 0) setActive((active + step + length) % length)
    else if (event.key === 'Enter') submit()
    else return
    event.preventDefault()
    document.getElementById(`${id}-${(active + (step ?? 0) + length) % length}`)?.scrollIntoView({ block: 'nearest' })
  }

  /** Opens the active answer. While answers to the newest text are on their way, opens the library with that text. */
  function submit (): void {
    const entry = entries[active]
    if (typed.trim() !== term) {
      recent.value = addRecent(recent.value, typed)
      dialog.current?.close()
      go(libraryOf(typed.trim()))
    } else if (entry !== undefined) choose(entry)
  }

  return (
    <dialog
      ref={dialog} class='dialog palette' aria-label={words.title} onClose={onClose}
      onClick={({ target, currentTarget }) => { if (target === currentTarget) currentTarget.close() }}
    >
      <div class='palette-head'>
        <Icon node={searchIcon} />
        <input
          class='palette-input' type='text' role='combobox' aria-label={words.placeholder} placeholder={words.placeholder} value={typed} autofocus
          aria-expanded={entries.length > 0} aria-controls={`${id}-list`} aria-autocomplete='list' autocomplete='off' spellcheck={false}
          aria-activedescendant={entries.length > 0 ? `${id}-${active}` : undefined} enterkeyhint='search'
          onInput={({ currentTarget }) => { setTyped(currentTarget.value) }} onKeyDown={handleKey}
        />
        {isLoading && <span class='spinner' aria-hidden />}
        <IconButton isSmall icon={x} label={common.close} onClick={() => { dialog.current?.close() }} />
      </div>
      <div class='palette-body'>
        {failure !== null && <Notice kind='failure'>{failure.message || texts().errors.failed.text}</Notice>}
        <div id={`${id}-list`} role='listbox' class='palette-list' aria-label={words.title}>
          {GROUPS.map((group) => (
            <Group key={group} {...{ id, group, entries, active, all }} onChoose={choose} onPoint={setActive} />
          ))}
        </div>
        {term === '' && entries.length === 0 && <p class='palette-hint'>{words.hint}</p>}
        {term !== '' && entries.length === 0 && !isLoading && <p class='palette-hint'>{words.none(term)}</p>}
        <p class='visually-hidden' role='status'>{term === '' || isLoading || total === null ? '' : words.found(total + others.length)}</p>
      </div>
      <div class='palette-keys' aria-hidden>
        <span><kbd>↑</kbd> <kbd>↓</kbd> {words.keys.move}</span>
        <span><kbd>↵</kbd> {words.keys.open}</span>
        <span><kbd>Esc</kbd> {words.keys.close}</span>
      </div>
    </dialog>
  )
}
