import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

interface PanelProps {
  title: string
  text?: string
  /** The main action, at the end of the title's line. */
  action?: ComponentChildren
  children?: ComponentChildren
}

/** A card of the account with its title. */
export function Panel ({ title, text, action, children }: PanelProps) {
  const id = useId()
  return (
    <section class='card panel' aria-labelledby={id}>
      <div class='panel-head'>
        <div>
          <h2 id={id}>{title}</h2>
          {text !== undefined && <p class='soft'>{text}</p>}
        </div>
        {action}
      </div>
      {children}
    </section>
  )
}
