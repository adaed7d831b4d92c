import { useState } from 'preact/hooks'
import { texts } from '../../../i18n/language.ts'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Select, TextField } from '../../../ui/field.tsx'
import type { Marks } from './operations.ts'

const STATUSES = ['incomplete', 'finished', 'completed_100', 'retired', 'never_playing'] as const
type Status = typeof STATUSES[number]
const isStatus = (text: string): text is Status => STATUSES.some((status) => status === text)

/** What the fields hold; an empty text changes nothing. */
type Chosen = Record<'status' | 'rating' | 'difficulty' | 'completion' | 'now_playing' | 'backlogged', string>
const NOTHING: Chosen = { status: '', rating: '', difficulty: '', completion: '', now_playing: '', backlogged: '' }

/** Returns the marks that a person chose; empty fields change nothing. */
function readMarks ({ status, rating, difficulty, completion, now_playing: playing, backlogged }: Chosen): Marks {
  return {
    ...(status === 'none' ? { status: null } : isStatus(status) ? { status } : {}),
    ...(rating === '' ? {} : { rating: Number(rating) }),
    ...(difficulty === '' ? {} : { difficulty: Number(difficulty) }),
    ...(completion === '' ? {} : { completion: Number(completion) }),
    ...(playing === '' ? {} : { now_playing: playing === 'yes' }),
    ...(backlogged === '' ? {} : { backlogged: backlogged === 'yes' })
  }
}

interface MarksDialogProps { count: number, onApply: (marks: Marks) => void, onClose: () => void }

/** Sets status and ratings of the selected ROMs. */
export function MarksDialog ({ count, onApply, onClose }: MarksDialogProps) {
  const { common, list: { marksDialog: words, statuses } } = texts()
  const [chosen, setChosen] = useState(NOTHING)
  const set = (name: keyof Chosen) => (value: string) => { setChosen((former) => ({ ...former, [name]: value })) }
  const marks = readMarks(chosen)
  const answers = { '': words.keep, yes: words.yes, no: words.no }
  const choices: Record<string, string> = {
    '': words.keep, none: words.noStatus, ...Object.fromEntries(STATUSES.map((status) => [status, statuses[status]]))
  }
  const apply = (event: Event) => {
    event.preventDefault()
    onApply(marks)
  }
  return (
    <Dialog
      title={words.title(count)} isOpen onClose={onClose}
      foot={(
        <>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button type='submit' form='marks' kind='primary' disabled={Object.keys(marks).length === 0}>{words.submit}</Button>
        </>
      )}
    >
      <form id='marks' class='stack' onSubmit={apply}>
        <p class='soft'>{words.text}</p>
        <Select label={words.status} value={chosen.status} options={choices} onChange={set('status')} />
        <div class='marks-row'>
          <TextField label={words.rating} type='number' min={0} max={10} step={1} value={chosen.rating} onInput={set('rating')} />
          <TextField label={words.difficulty} type='number' min={0} max={10} step={1} value={chosen.difficulty} onInput={set('difficulty')} />
          <TextField label={words.completion} type='number' min={0} max={100} step={1} value={chosen.completion} onInput={set('completion')} />
        </div>
        <div class='marks-row'>
          <Select label={words.now_playing} value={chosen.now_playing} options={answers} onChange={set('now_playing')} />
          <Select label={words.backlogged} value={chosen.backlogged} options={answers} onChange={set('backlogged')} />
        </div>
      </form>
    </Dialog>
  )
}
