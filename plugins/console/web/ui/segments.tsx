import type { IconNode } from 'lucide'
import { Icon } from './icon.tsx'

interface SegmentsProps<Value extends string> {
  label: string
  value: Value
  options: Readonly<Record<Value, { label: string, icon: IconNode }>>
  onChange: (value: Value) => void
}

/** A choice of one among two or three, as buttons in a row. */
export function Segments<Value extends string> ({ label, value, options, onChange }: SegmentsProps<Value>) {
  return (
    <div class='segments' role='group' aria-label={label}>
      {(Object.keys(options) as Value[]).map((key) => (
        <button
          key={key} type='button' class='segment' aria-pressed={key === value} aria-label={options[key].label} title={options[key].label}
          onClick={() => { onChange(key) }}
        >
          <Icon node={options[key].icon} />
        </button>
      ))}
    </div>
  )
}
