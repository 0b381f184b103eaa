package pmi

// put stores a value once. Another rank sees it after the next barrier.
func (x *session) put(m Message) error {
	kvs, _ := m.Get("kvsname")
	key, _ := m.Get("key")
	value, hasValue := m.Get("value")
	why := ""
	switch {
	case kvs != x.s.name:
		why = "unknown_kvsname"
	case key == "" || len(key) > MaxKey:
		why = "key_length"
	case !hasValue || len(value) > MaxValue:
		why = "value_length"
	default:
		why = x.s.store(x.rank, key, value)
	}
	if why != "" {
		return x.answer(Msg("put_result", "rc", "-1", "msg", why))
	}
	return x.answer(Msg("put_result", "rc", "0", "msg", "success"))
}

// store returns why not, or nothing.
func (s *Server) store(rank int, key, value string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, dup := s.kvs[key]; dup {
		return "duplicate_key"
	}
	r := &s.ranks[rank]
	if r.stored+len(key)+len(value) > maxStored {
		return "too_much"
	}
	r.stored += len(key) + len(value)
	s.kvs[key] = value
	return ""
}

func (x *session) get(m Message) error {
	kvs, _ := m.Get("kvsname")
	key, _ := m.Get("key")
	if kvs != x.s.name {
		return x.answerLater(Msg("get_result", "rc", "-1", "msg", "unknown_kvsname"))
	}
	x.s.mu.Lock()
	value, ok := x.s.kvs[key]
	x.s.mu.Unlock()
	if !ok {
		return x.answerLater(Msg("get_result", "rc", "-1", "msg", "key_not_found", "value", "unknown"))
	}
	return x.answerLater(Msg("get_result", "rc", "0", "msg", "success", "value", value))
}
