// Types of answers that hold only the fields that were asked for.

/** Names of members, and of theirs behind a dot: "name", "address.city", "customer.companyName". */
export type FieldPath<Item, Depth extends unknown[] = []> = Depth['length'] extends 3
  ? never
  : {
      [Name in keyof Item & string]:
        | Name
        | (NonNullable<Item[Name]> extends readonly unknown[]
            ? never
            : NonNullable<Item[Name]> extends object
              ? `${Name}.${FieldPath<NonNullable<Item[Name]>, [...Depth, 0]>}`
              : never);
    }[keyof Item & string];

/** The members that `Path` names, and `id`. */
export type Chosen<Item, Path extends string> = {
  [Name in keyof Item as Name extends 'id' | FirstStep<Path> ? Name : never]: Name extends Path | 'id'
    ? Item[Name]
    : Chosen<NonNullable<Item[Name]>, Behind<Name & string, Path>> | Extract<Item[Name], undefined>;
};

type FirstStep<Path extends string> = Path extends `${infer First}.${string}` ? First : Path;
type Behind<Name extends string, Path extends string> = Path extends `${Name}.${infer Rest}` ? Rest : never;

/** Members that a query with `fields` returns: these, and what `include` adds. */
export interface FieldQuery<Path extends string, Inclusion extends string> {
  fields: readonly Path[];
  include?: Inclusion | readonly Inclusion[];
}
