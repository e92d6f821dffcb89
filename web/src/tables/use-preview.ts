// Keeps the record that is shown beside the table.
import { useState } from 'react';
import type { Entity } from '../api/definitions.ts';

export type Preview = ReturnType<typeof usePreview>;

export function usePreview() {
  const [isOpen, setIsOpen] = useState(false);
  const [id, setId] = useState<string>();
  return {
    isOpen,
    id,
    follow: (entity: Entity) => setId(entity.id),
    toggle: (entity?: Entity) => {
      if (entity) setId(entity.id);
      setIsOpen(!isOpen);
    },
    close: () => setIsOpen(false),
  };
}
