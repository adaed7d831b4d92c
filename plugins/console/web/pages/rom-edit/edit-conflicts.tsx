import { useEffect, useRef } from 'preact/hooks'
import { texts } from '../../i18n/language.ts'
import { Button } from '../../ui/button.tsx'
import { fieldName } from '../rom/metadata.tsx'
import type { Edit } from './use-edit.ts'

interface SideProps { title: string, value: string, action: string, label: string, onChoose: () => void }

/** One value of a field, with the button that chooses it. */
const Side = ({ title, value, action, label, onChoose }: SideProps) => (
  <div class='conflict-side'>
    <h4>{title}</h4>
    <p>{value || <em class='soft'>{texts().rom.edit.changed.empty}</em>}</p>
    <Button isSmall aria-label={label} onClick={onChoose}>{action}</Button>
  </div>
)

/** Fields that somebody else changed meanwhile, with both values. */
export function EditConflicts ({ edit: { conflicts, decide } }: { edit: Edit }) {
  const { changed: words } = texts().rom.edit
  const box = useRef<HTMLElement>(null)
  const isOpen = conflicts.length > 0
  useEffect(() => { if (isOpen) box.current?.focus() }, [isOpen])
  if (!isOpen) return null
  return (
    <section ref={box} class='conflict' role='alert' tabIndex={-1}>
      <div class='conflict-head'>
        <div>
          <h2>{words.title}</h2>
          <p class='soft'>{words.text}</p>
        </div>
      </div>
      {conflicts.map((conflict) => {
        const field = fieldName(conflict.field)
        return (
          <div key={conflict.field} class='edit-conflict'>
            <h3>{field}</h3>
            <div class='conflict-sides'>
              <Side
                title={words.mine}
                value={conflict.mine}
                action={words.keepMine}
                label={words.keepMineOf(field)}
                onChoose={() => { decide(conflict, true) }}
              />
              <Side
                title={words.theirs}
                value={conflict.theirs}
                action={words.takeTheirs}
                label={words.takeTheirsOf(field)}
                onChoose={() => { decide(conflict, false) }}
              />
            </div>
          </div>
        )
      })}
    </section>
  )
}
