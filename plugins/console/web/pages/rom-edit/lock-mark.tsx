import lock from 'lucide/dist/esm/icons/lock.mjs'
import lockOpen from 'lucide/dist/esm/icons/lock-open.mjs'
import { texts } from '../../i18n/language.ts'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'

/** Tells that a field is locked, with the button that unlocks it. */
export function LockMark ({
  label,
  isUnlocked,
  onToggle
}: {
  label: string
  isUnlocked: boolean
  onToggle: () => void
}) {
  const { edit: words, metadata } = texts().rom
  return (
    <div class='lock-mark'>
      <span class='field-hint'>
        <Icon node={isUnlocked ? lockOpen : lock} />
        {isUnlocked ? words.unlocks : words.locked}
      </span>
      <Button
        kind='quiet'
        isSmall
        aria-pressed={isUnlocked}
        aria-label={isUnlocked ? words.keepLockOf(label) : metadata.unlock(label)}
        onClick={onToggle}
      >
        {isUnlocked ? words.keepLock : words.unlock}
      </Button>
    </div>
  )
}
