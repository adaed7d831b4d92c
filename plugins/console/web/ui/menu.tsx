import * as machine from '@zag-js/menu'
import { normalizeProps, useMachine } from '@zag-js/preact'
import type { IconNode } from 'lucide'
import type { ButtonHTMLAttributes, ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { readDirection } from './direction.ts'
import { Icon } from './icon.tsx'
import { Portal } from './portal.tsx'

/** An entry of a menu; a text alone is a heading, null a line. */
export type MenuEntry = string | null | {
  id: string
  label: string
  icon?: IconNode
  isDanger?: boolean
  isDisabled?: boolean
  onSelect: () => void
}

interface MenuProps {
  entries: readonly MenuEntry[]
  /** Gets the attributes of the button that opens the menu. */
  children: (trigger: ButtonHTMLAttributes) => ComponentChildren
}

/** A menu that a button opens, by pointer, arrows and first letters. */
export function Menu ({ entries, children }: MenuProps) {
  const id = useId()
  const trigger = `${id}-trigger`
  const service = useMachine(machine.machine, {
    id,
    ids: { trigger },
    dir: readDirection(),
    positioning: { placement: 'bottom-end', gutter: 6 },
    onSelect: ({ value }) => {
      // The entry leaves the page. A dialog that it opens gives the focus back to the button.
      document.getElementById(trigger)?.focus()
      for (const entry of entries) if (entry !== null && typeof entry !== 'string' && entry.id === value) entry.onSelect()
    }
  })
  const menu = machine.connect(service, normalizeProps)
  return (
    <>
      {children(menu.getTriggerProps())}
      {menu.open && (
        <Portal>
          <div {...menu.getPositionerProps()}>
            <div {...menu.getContentProps()} class='menu'>
              {entries.map((entry, index) => <Entry key={index} entry={entry} menu={menu} />)}
            </div>
          </div>
        </Portal>
      )}
    </>
  )
}

function Entry ({ entry, menu }: { entry: MenuEntry, menu: machine.Api }) {
  if (entry === null) return <hr class='menu-line' />
  if (typeof entry === 'string') return <div class='menu-heading'>{entry}</div>
  const { id, label, icon, isDanger = false, isDisabled = false } = entry
  const props = menu.getItemProps({ value: id, disabled: isDisabled })
  return (
    <div {...props} class={isDanger ? 'menu-item menu-item-danger' : 'menu-item'}>
      {icon && <Icon node={icon} />}{label}
    </div>
  )
}
