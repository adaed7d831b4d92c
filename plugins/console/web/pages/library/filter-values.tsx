import { useId, useState } from 'preact/hooks'
import { texts } from '../../i18n/language.ts'
import { type Logic } from './list-query.ts'

export interface FilterOption { readonly value: string, readonly label: string, readonly note?: string | undefined }

interface FilterValuesProps {
  title: string
  options: readonly FilterOption[]
  values: readonly string[]
  /** The ways to combine several values; one means that there is no choice. */
  logics: readonly Logic[]
  logic: Logic
  onChange: (values: string[], logic: Logic) => void
}

const SHOWN = 60
const SEARCH_FROM = 10

/** Returns the options whose label contains a text; chosen ones first, so that they can be removed. */
function findOptions (options: readonly FilterOption[], values: readonly string[], text: string): FilterOption[] {
  const wanted = text.trim().toLowerCase()
  const known = new Set(options.map(({ value }) => value))
  const all = [...values.filter((value) => !known.has(value)).map((value) => ({ value, label: value })), ...options]
  const found = wanted === '' ? all : all.filter(({ label }) => label.toLowerCase().includes(wanted))
  const chosen = new Set(values)
  return [...found.filter(({ value }) => chosen.has(value)), ...found.filter(({ value }) => !chosen.has(value))]
}

/** The values of one filter, closed until somebody opens it. */
export function FilterValues ({ title, options, values, logics, logic, onChange }: FilterValuesProps) {
  const { list } = texts()
  const id = useId()
  const [isOpen, setOpen] = useState(values.length > 0)
  const [text, setText] = useState('')
  const found = isOpen ? findOptions(options, values, text) : []
  const toggle = (value: string, isOn: boolean) => {
    onChange(isOn ? [...values, value] : values.filter((other) => other !== value), logic)
  }
  return (
    <details class='filter' open={isOpen} onToggle={({ currentTarget }) => { setOpen(currentTarget.open) }}>
      <summary>{title}{values.length > 0 && <span class='filter-number'>{values.length}</span>}</summary>
      {isOpen && (
        <div class='filter-body'>
          {logics.length > 1 && values.length > 0 && (
            <select
              class='input filter-small' aria-label={`${title}: ${list.logic}`} value={logic}
              onChange={({ currentTarget }) => { onChange([...values], logics.find((one) => one === currentTarget.value) ?? 'any') }}
            >
              {logics.map((one) => <option key={one} value={one}>{list.logics[one]}</option>)}
            </select>
          )}
          {options.length >= SEARCH_FROM && (
            <input
              class='input filter-small' type='search' aria-label={list.findValue(title)} placeholder={list.findValue(title)} value={text}
              onInput={({ currentTarget }) => { setText(currentTarget.value) }}
            />
          )}
          <ul class='filter-values'>
            {found.slice(0, SHOWN).map(({ value, label, note }) => (
              <li key={value}>
                <label class='filter-value' for={`${id}-${value}`}>
                  <input
                    id={`${id}-${value}`} type='checkbox' checked={values.includes(value)}
                    onChange={({ currentTarget }) => { toggle(value, currentTarget.checked) }}
                  />
                  <span>{label}</span>
                  {note !== undefined && <span class='faint number'>{note}</span>}
                </label>
              </li>
            ))}
          </ul>
          {found.length > SHOWN && <p class='faint'>{list.moreValues(found.length - SHOWN)}</p>}
          {found.length === 0 && <p class='faint'>{text === '' ? list.noValues : list.noSuchValue}</p>}
        </div>
      )}
    </details>
  )
}
