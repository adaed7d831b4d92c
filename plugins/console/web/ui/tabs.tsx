import { normalizeProps, useMachine } from '@zag-js/preact'
import * as machine from '@zag-js/tabs'
import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { readDirection } from './direction.ts'

interface Tab { id: string, label: string, content: () => ComponentChildren }

interface TabsProps { label: string, tabs: readonly Tab[], value: string, onChange: (id: string) => void }

/** Panels of which one is shown; only that one is rendered. */
export function Tabs ({ label, tabs, value, onChange }: TabsProps) {
  const service = useMachine(machine.machine, {
    id: useId(), dir: readDirection(), value, onValueChange: (details) => { onChange(details.value) }
  })
  const api = machine.connect(service, normalizeProps)
  return (
    <div {...api.getRootProps()}>
      <div {...api.getListProps()} class='tabs-list' aria-label={label}>
        {tabs.map(({ id, label: text }) => (
          <button key={id} {...api.getTriggerProps({ value: id })} class='tabs-tab'>{text}</button>
        ))}
      </div>
      {tabs.map(({ id, content }) => (
        <div key={id} {...api.getContentProps({ value: id })} class='tabs-panel'>{id === value && content()}</div>
      ))}
    </div>
  )
}
