//! Where the fields of a struct stand: the rule of the compiler, which gives each field its place in the order
//! of ordinals, so that new fields move no old ones.
//!
//! A struct's data section grows by words. What a field leaves of a word are holes, at most one of each size,
//! and the next field takes the smallest hole it fits in. Members of a union share locations: each member takes
//! space in the locations that other members caused, and only when none has room, one is widened or added.
//! Sizes are powers of two of bits, written as their logarithm; offsets are in multiples of the size.

/// The logarithm of 64 bits.
const WORD: usize = 6;

/// The logarithm of the 16 bits of a union's tag.
const TAG: usize = 4;

/// Holes by size: the offset of each, 0 for none. No hole stands at offset 0.
#[derive(Debug, Clone, Copy, Default)]
struct Holes([u32; WORD]);

impl Holes {
    fn get(&self, size: usize) -> u32 {
        self.0.get(size).copied().unwrap_or(0)
    }

    fn set(&mut self, size: usize, offset: u32) {
        if let Some(place) = self.0.get_mut(size) {
            *place = offset;
        }
    }

    /// Takes space out of the smallest hole that has it.
    fn take(&mut self, size: usize) -> Option<u32> {
        let from = self.smallest(size)?;
        let mut offset = self.get(from);
        self.set(from, 0);
        for part in (size..from).rev() {
            offset = offset.saturating_mul(2);
            self.set(part, offset.saturating_add(1));
        }
        Some(offset)
    }

    /// The size of the smallest hole of at least a size.
    fn smallest(&self, size: usize) -> Option<usize> {
        (size..WORD).find(|one| self.get(*one) != 0)
    }

    /// Holes from an offset up to the end of what was widened to `limit`.
    fn add(&mut self, from: usize, mut offset: u32, limit: usize) {
        for size in from..limit.min(WORD) {
            self.set(size, offset);
            offset = offset.saturating_add(1) / 2;
        }
    }

    /// Whether what stands at a place can be joined with the holes behind it, `steps` times.
    fn can_widen(&self, size: usize, offset: u32, steps: usize) -> bool {
        (0..steps).all(|step| {
            let here = offset.checked_shr(u32::try_from(step).unwrap_or(u32::MAX)).unwrap_or(0);
            self.get(size.saturating_add(step)) == here.saturating_add(1)
        })
    }

    /// Joins what stands at a place with the holes behind it.
    fn widen(&mut self, size: usize, offset: u32, steps: usize) -> bool {
        let can = self.can_widen(size, offset, steps);
        for step in (0..steps).filter(|_| can) {
            self.set(size.saturating_add(step), 0);
        }
        can
    }
}

/// Where fields can be added: the struct, or a member of a union.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScopeId(usize);

/// A union.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnionId(usize);

/// Space in the data section that the members of a union share.
#[derive(Debug, Clone, Copy)]
struct Location {
    size: usize,
    offset: u32,
}

#[derive(Debug)]
struct Union {
    around: ScopeId,
    /// Members that have fields.
    members: u32,
    tag: Option<u32>,
    data: Vec<Location>,
    pointers: Vec<u32>,
}

/// What a member of a union uses of a location.
#[derive(Debug, Clone, Copy, Default)]
struct Usage {
    /// Size of the part from its start that is used; none if nothing is.
    used: Option<usize>,
    holes: Holes,
}

#[derive(Debug)]
struct Member {
    of: UnionId,
    usage: Vec<Usage>,
    pointers: usize,
    begun: bool,
}

/// A struct while its fields get their places.
#[derive(Debug, Default)]
pub struct Layout {
    /// Words of the data section.
    pub words: u32,
    /// Pointers.
    pub pointers: u32,
    /// Compilers up to 0.5 put fields of it over one another, and those up to 1.x refuse it (issue 344 of
    /// capnproto).
    pub refused: bool,
    holes: Holes,
    members: Vec<Member>,
    unions: Vec<Union>,
}

impl Layout {
    /// The struct itself.
    pub const TOP: ScopeId = ScopeId(0);

    /// A union in the struct, a group of it, or a member of another union.
    pub fn union(&mut self, around: ScopeId) -> UnionId {
        self.unions.push(Union { around, members: 0, tag: None, data: Vec::new(), pointers: Vec::new() });
        UnionId(self.unions.len().saturating_sub(1))
    }

    /// A member of a union: a field or group.
    pub fn member(&mut self, of: UnionId) -> ScopeId {
        self.members.push(Member { of, usage: Vec::new(), pointers: 0, begun: false });
        ScopeId(self.members.len())
    }

    fn member_at(&mut self, scope: ScopeId) -> Option<&mut Member> {
        self.members.get_mut(scope.0.checked_sub(1)?)
    }

    fn union_at(&mut self, id: UnionId) -> Option<&mut Union> {
        self.unions.get_mut(id.0)
    }

    fn around(&self, id: UnionId) -> ScopeId {
        self.unions.get(id.0).map_or(Layout::TOP, |union| union.around)
    }

    /// Where the tag of a union stands, in units of 16 bits.
    pub fn tag(&self, id: UnionId) -> Option<u32> {
        self.unions.get(id.0).and_then(|union| union.tag)
    }

    /// Gives the tag of a union its place; false if it has one.
    pub fn add_tag(&mut self, id: UnionId) -> bool {
        if self.tag(id).is_some() {
            return false;
        }
        let offset = self.add_data(self.around(id), TAG);
        if let Some(union) = self.union_at(id) {
            union.tag = Some(offset);
        }
        true
    }

    /// The tag gets its place just before the second member has a field.
    fn begin(&mut self, scope: ScopeId) {
        let Some(member) = self.member_at(scope).filter(|member| !member.begun) else { return };
        member.begun = true;
        let of = member.of;
        let Some(union) = self.union_at(of) else { return };
        union.members = union.members.saturating_add(1);
        if union.members == 2 {
            self.add_tag(of);
        }
    }

    /// Adds a field without bits.
    pub fn add_void(&mut self, scope: ScopeId) {
        let Some(of) = self.member_at(scope).map(|member| member.of) else { return };
        self.begin(scope);
        self.add_void(self.around(of));
    }

    /// Adds a pointer; gives its number.
    pub fn add_pointer(&mut self, scope: ScopeId) -> u32 {
        self.begin(scope);
        let Some(member) = self.member_at(scope) else {
            self.pointers = self.pointers.saturating_add(1);
            return self.pointers.saturating_sub(1);
        };
        let (of, next) = (member.of, member.pointers);
        member.pointers = next.saturating_add(1);
        if let Some(known) = self.union_at(of).and_then(|union| union.pointers.get(next)) {
            return *known;
        }
        let offset = self.add_pointer(self.around(of));
        if let Some(union) = self.union_at(of) {
            union.pointers.push(offset);
        }
        offset
    }

    /// Adds a field of bits; gives its offset.
    pub fn add_data(&mut self, scope: ScopeId, size: usize) -> u32 {
        self.begin(scope);
        let Some(of) = self.member_at(scope).map(|member| member.of) else { return self.add_to_top(size) };
        let locations = self.unions.get(of.0).map_or(0, |union| union.data.len());
        if let Some(member) = self.member_at(scope) {
            member.usage.resize(locations, Usage::default());
        }
        let best = self.smallest_room(scope, of, size);
        if let Some(at) = best {
            return self.in_hole(scope, of, at, size);
        }
        for at in 0..locations {
            if let Some(offset) = self.by_widening(scope, of, at, size) {
                return offset;
            }
        }
        self.new_location(scope, of, size)
    }

    /// The location with the smallest room for a field; of equal ones the first.
    fn smallest_room(&self, scope: ScopeId, of: UnionId, size: usize) -> Option<usize> {
        let usage = &self.members.get(scope.0.checked_sub(1)?)?.usage;
        let locations = &self.unions.get(of.0)?.data;
        let room = |(at, (usage, location)): (usize, (&Usage, &Location))| Some((usage.room(location, size)?, at));
        usage.iter().zip(locations).enumerate().filter_map(room).min().map(|(_, at)| at)
    }

    fn add_to_top(&mut self, size: usize) -> u32 {
        if let Some(offset) = self.holes.take(size) {
            return offset;
        }
        let offset = self.words << WORD.saturating_sub(size);
        self.words = self.words.saturating_add(1);
        self.holes.add(size, offset.saturating_add(1), WORD);
        offset
    }

    fn new_location(&mut self, scope: ScopeId, of: UnionId, size: usize) -> u32 {
        let offset = self.add_data(self.around(of), size);
        if let Some(union) = self.union_at(of) {
            union.data.push(Location { size, offset });
        }
        if let Some(member) = self.member_at(scope) {
            member.usage.push(Usage { used: Some(size), holes: Holes::default() });
        }
        offset
    }

    fn location(&self, of: UnionId, at: usize) -> Option<Location> {
        self.unions.get(of.0)?.data.get(at).copied()
    }

    fn usage_at(&mut self, scope: ScopeId, at: usize) -> Option<&mut Usage> {
        self.member_at(scope)?.usage.get_mut(at)
    }

    fn in_hole(&mut self, scope: ScopeId, of: UnionId, at: usize, size: usize) -> u32 {
        let Some(location) = self.location(of, at) else { return 0 };
        let inside = self.usage_at(scope, at).map_or(0, |usage| usage.take(size));
        location.start(size).saturating_add(inside)
    }

    fn by_widening(&mut self, scope: ScopeId, of: UnionId, at: usize, size: usize) -> Option<u32> {
        let Some(used) = self.usage_at(scope, at)?.used else {
            if !self.widen_location(of, at, size) {
                return None;
            }
            self.usage_at(scope, at)?.used = Some(size);
            return Some(self.location(of, at)?.start(size));
        };
        let wanted = used.max(size).saturating_add(1);
        if !self.widen_usage(scope, of, at, wanted, true) {
            return None;
        }
        let inside = self.usage_at(scope, at)?.holes.take(size)?;
        Some(self.location(of, at)?.start(size).saturating_add(inside))
    }

    fn widen_location(&mut self, of: UnionId, at: usize, size: usize) -> bool {
        let Some(location) = self.location(of, at) else { return false };
        if size <= location.size {
            return true;
        }
        let steps = size.saturating_sub(location.size);
        if !self.widen(self.around(of), location.size, location.offset, steps) {
            return false;
        }
        if let Some(place) = self.union_at(of).and_then(|union| union.data.get_mut(at)) {
            *place = Location { size, offset: location.offset >> steps };
        }
        true
    }

    fn widen_usage(&mut self, scope: ScopeId, of: UnionId, at: usize, wanted: usize, new_holes: bool) -> bool {
        if !self.widen_location(of, at, wanted) {
            return false;
        }
        self.refused |= !new_holes;
        let Some(usage) = self.usage_at(scope, at) else { return false };
        if new_holes {
            usage.holes.add(usage.used.unwrap_or(0), 1, wanted);
        }
        usage.used = Some(wanted);
        true
    }

    /// Widens what stands at a place in the data section by what is free behind it.
    fn widen(&mut self, scope: ScopeId, size: usize, offset: u32, steps: usize) -> bool {
        if scope == Layout::TOP {
            return self.holes.widen(size, offset, steps);
        }
        if size.saturating_add(steps) > WORD || offset.trailing_zeros() < u32::try_from(steps).unwrap_or(u32::MAX) {
            // Old compilers went on here; new ones refuse it where that would have succeeded.
            self.refused |= self.can_widen(scope, size, offset, steps);
            return false;
        }
        let Some((of, at, inside)) = self.holder(scope, size, offset) else { return false };
        let Some(usage) = self.usage_at(scope, at) else { return false };
        if inside == 0 && usage.used == Some(size) {
            return self.widen_usage(scope, of, at, size.saturating_add(steps), false);
        }
        usage.holes.widen(size, inside, steps)
    }

    /// Whether [`Layout::widen`] would succeed if it did not look at alignment.
    fn can_widen(&self, scope: ScopeId, size: usize, offset: u32, steps: usize) -> bool {
        if scope == Layout::TOP {
            return self.holes.can_widen(size, offset, steps);
        }
        let Some((of, at, inside)) = self.holder(scope, size, offset) else { return false };
        let usage = scope.0.checked_sub(1).and_then(|at| self.members.get(at)).and_then(|one| one.usage.get(at));
        let (Some(usage), Some(location)) = (usage, self.location(of, at)) else { return false };
        if inside != 0 || usage.used != Some(size) {
            return usage.holes.can_widen(size, inside, steps);
        }
        let more = size.saturating_add(steps).saturating_sub(location.size);
        more == 0 || self.can_widen(self.around(of), location.size, location.offset, more)
    }

    /// The location of a member's union in which something stands, and its offset from the start of that.
    fn holder(&self, scope: ScopeId, size: usize, offset: u32) -> Option<(UnionId, usize, u32)> {
        let member = self.members.get(scope.0.checked_sub(1)?)?;
        let holds = |location: &Location| {
            let steps = location.size.checked_sub(size);
            steps.is_some_and(|steps| offset >> steps == location.offset)
        };
        let locations = self.unions.get(member.of.0)?.data.iter().take(member.usage.len());
        let (at, location) = locations.enumerate().find(|(_, location)| holds(location))?;
        Some((member.of, at, offset.saturating_sub(location.start(size))))
    }
}

impl Location {
    /// Its start in units of a size that is not larger.
    fn start(self, size: usize) -> u32 {
        self.offset << self.size.saturating_sub(size)
    }
}

impl Usage {
    /// The size of the smallest room for a field in a location that need not be widened.
    fn room(&self, location: &Location, size: usize) -> Option<usize> {
        let Some(used) = self.used else {
            return (size <= location.size).then_some(location.size);
        };
        if size >= used {
            return (size < location.size).then_some(size);
        }
        self.holes.smallest(size).or_else(|| (used < location.size).then_some(used))
    }

    /// Takes the room that [`Usage::room`] found; gives the offset from the start of the location.
    fn take(&mut self, size: usize) -> u32 {
        let Some(used) = self.used else {
            self.used = Some(size);
            return 0;
        };
        if size >= used {
            // The second half of twice the size.
            self.holes.add(used, 1, size);
            self.used = Some(size.saturating_add(1));
            return 1;
        }
        self.holes.take(size).unwrap_or_else(|| {
            let offset = 1u32 << used.saturating_sub(size);
            self.holes.add(size, offset.saturating_add(1), used);
            self.used = Some(used.saturating_add(1));
            offset
        })
    }
}
