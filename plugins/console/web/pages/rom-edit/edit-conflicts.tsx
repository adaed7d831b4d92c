import { useEffect, useRef } from 'preact/hooks'
import { texts } from '../../i18n/language.ts'
import { Button } from '../../ui/button.tsx'
import { fieldName } from '../rom/metadata.tsx'
import type { Edit } from './use-edit.ts'

/** Fields that somebody else changed meanwhile, with both values. */
export function EditConflicts ({ edit: { conflicts, decide } }: { edit: Edit }) {
  const { changed: words } = texts().rom.edit
  const box = useRef<HTMLElement>(null)
  const isOpen = conflicts.length > 0
  useEffect(() => {
    if (isOpen) box.current?.focus()
  }, [isOpen])
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
              <div class='conflict-side'>
                <h4>{words.mine}</h4>
                <p>{conflict.mine || <em class='soft'>{words.empty}</em>}</p>
                <Button
                  isSmall
                  aria-label={words.keepMineOf(field)}
                  onClick={() => {
                    decide(conflict, true)
                  }}
                >
                  {words.keepMine}
                </Button>
              </div>
              <div class='conflict-side'>
                <h4>{words.theirs}</h4>
                <p>{conflict.theirs || <em class='soft'>{words.empty}</em>}</p>
                <Button
                  isSmall
                  aria-label={words.takeTheirsOf(field)}
                  onClick={() => {
                    decide(conflict, false)
                  }}
                >
                  {words.takeTheirs}
                </Button>
              </div>
            </div>
          </div>
        )
      })}
    </section>
  )
}
